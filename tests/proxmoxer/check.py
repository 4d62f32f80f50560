"""Drives the simulator with a client that we did not write.

proxmoxer is what Ansible and most scripts use, so what it can do here it can do there. The script starts
`pvetalos simulate` itself, works with its token as any user would, and asserts at every step:

    python3 -m venv .venv && .venv/bin/pip install proxmoxer requests
    cargo build && .venv/bin/python tests/proxmoxer/check.py target/debug/pvetalos
"""

import contextlib
import hashlib
import pathlib
import re
import shlex
import ssl
import subprocess
import sys
import tempfile
import time

from proxmoxer import ProxmoxAPI
from proxmoxer.core import ResourceException
from proxmoxer.tools import Tasks

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATE = 9000
NEW = 131


@contextlib.contextmanager
def simulator(binary):
    """Runs the simulator on a free port and yields what it says about how to reach it."""
    command = [binary, "simulate", "--listen", "127.0.0.1:0", "--clone-time", "1s"]
    command += ["--world", str(ROOT / "examples/worlds/three-hosts.yaml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            settings = {}
            for line in process.stdout:
                if match := re.fullmatch(r"export (\w+)=(.*)\n", line):
                    settings[match[1]] = shlex.split(match[2])[0]
                if match := re.search(r"((?:[0-9A-F]{2}:){31}[0-9A-F]{2})", line):
                    settings["fingerprint"] = match[1]
                if line.startswith("# Stop it"):
                    break
            yield settings
        finally:
            process.terminate()


def connect(settings, directory):
    """Trusts exactly the certificate with the printed fingerprint."""
    host, port = re.fullmatch(r"https://([^:/]+):(\d+)", settings["PROXMOX_ENDPOINT"]).groups()
    pem = ssl.get_server_certificate((host, int(port)))
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest().upper()
    assert digest == settings["fingerprint"].replace(":", ""), "the certificate is another one"
    trusted = pathlib.Path(directory) / "simulator.pem"
    trusted.write_text(pem)
    user, token = settings["PROXMOX_TOKEN_ID"].split("!")
    secret = settings["PROXMOX_TOKEN_SECRET"]
    return ProxmoxAPI(host, port=int(port), user=user, token_name=token, token_value=secret, verify_ssl=str(trusted))


def finish(api, upid):
    """Follows a task to its end; every task here ends well."""
    status = Tasks.blocking_status(api, upid, timeout=60, polling_interval=0.1)
    node = Tasks.decode_upid(upid)["node"]
    log = Tasks.decode_log(api.nodes(node).tasks(upid).log.get(limit=0))
    assert status and status["exitstatus"] == "OK", f"{status}\n{log}"
    assert log.splitlines()[-1] == "TASK OK", log
    return log


def refused(call, status, text):
    try:
        call()
    except ResourceException as error:
        assert error.status_code == status and text in f"{error.status_message} {error.content} {error.errors}", error
    else:
        raise AssertionError(f"not refused: {text}")


def step(text):
    print(f"  {text}")


def check(api):
    step("lists")
    assert api.version.get()["release"].startswith("9.")
    hosts = sorted(host["node"] for host in api.nodes.get())
    assert hosts == ["pve1", "pve2", "pve3"], hosts
    host = api.nodes("pve1")
    templates = [vm["vmid"] for vm in host.qemu.get() if vm.get("template")]
    assert templates == [TEMPLATE], templates
    resources = {row["vmid"]: row["type"] for row in api.cluster.resources.get(type="vm")}
    assert resources[TEMPLATE] == "qemu" and "lxc" in resources.values(), resources
    assert NEW not in resources and api.cluster.nextid.get(vmid=NEW) == str(NEW)
    storages = {storage["storage"] for storage in host.storage.get(content="images")}
    assert "local-lvm" in storages, storages

    step("clones")
    task = host.qemu(TEMPLATE).clone.post(newid=NEW, name="check-1", full=1, storage="local-lvm")
    assert Tasks.decode_upid(task)["type"] == "qmclone"
    assert "create full clone of drive scsi0" in finish(api, task)
    refused(lambda: host.qemu(TEMPLATE).clone.post(newid=NEW), 500, "already exists")

    step("configures")
    vm = host.qemu(NEW)
    digest = vm.config.get()["digest"]
    vm.config.put(
        digest=digest,
        cores=4,
        memory=4096,
        net0="virtio=BC:24:11:00:01:31,bridge=vmbr0",
        ipconfig0="ip=10.0.0.31/24,gw=10.0.0.1",
        boot="order=scsi0",
        tags="Worker;talos",
        description="first line\nsecond + line; with = signs & more",
    )
    config = vm.config.get()
    assert (config["cores"], config["memory"], config["tags"]) == (4, "4096", "talos;worker"), config
    assert config["description"].splitlines()[1] == "second + line; with = signs & more", config
    refused(lambda: vm.config.put(digest=digest, cores=8), 500, "checksum mismatch")
    refused(lambda: vm.config.put(cores="many"), 400, "type check ('integer') failed")

    step("resizes")
    finish(api, vm.resize.put(disk="scsi0", size="20G"))
    assert "size=20G" in vm.config.get()["scsi0"]

    step("starts")
    finish(api, vm.status.start.post())
    assert vm.status.current.get()["status"] == "running"
    refused(lambda: vm.delete(), 500, "is running")

    step("stops")
    finish(api, vm.status.stop.post())
    assert vm.status.current.get()["status"] == "stopped"

    step("deletes")
    finish(api, vm.delete(purge=1))
    refused(vm.config.get, 500, "does not exist")
    assert NEW not in [row["vmid"] for row in api.cluster.resources.get(type="vm")]
    refused(lambda: api.nodes("pve1").nonsense.get(), 501, "not implemented")


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/debug/pvetalos")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as directory, simulator(binary) as settings:
        check(connect(settings, directory))
    print(f"proxmoxer and the simulator agree ({time.monotonic() - started:.1f} s)")


if __name__ == "__main__":
    main()

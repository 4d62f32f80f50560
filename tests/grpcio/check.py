"""Asks simulated Talos nodes with clients that we did not write.

TLS is that of Python (OpenSSL), gRPC is Google's own; messages are read here byte by byte from the wire, so that not
even the descriptions of the messages are shared with pvetalos. The script starts `pvetalos simulate` itself, goes
through its SOCKS5 proxy as any client could, and asserts at every step:

    python3 -m venv .venv && .venv/bin/pip install grpcio
    cargo build && .venv/bin/python tests/grpcio/check.py target/debug/pvetalos
"""

import contextlib
import json
import pathlib
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

import grpc

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORT = 50000
UUID = "0e1d2c3b-4a59-4687-9786-a5b4c3d2e1f{}"
NODES = {"1.12.11": "192.168.1.11", "1.13.9": "192.168.1.12", "configured": "192.168.1.13"}


def world():
    """Three nodes that have booted: one of each generation, and one with a configuration."""
    vms = {}
    for number, (kind, address) in enumerate(NODES.items()):
        talos = {"profile": "configured"} if kind == "configured" else {"version": kind}
        vms[101 + number] = {
            "name": f"node-{number}",
            "running": True,
            "guest": {"boot": 0, "talos": talos},
            "disks": {"scsi0": "20G", "ide2": "cloudinit"},
            "config": {
                "smbios1": f"uuid={UUID.format(number)}",
                "net0": f"virtio=BC:24:11:00:00:1{number},bridge=vmbr0",
                "ipconfig0": f"ip={address}/24,gw=192.168.1.1",
                "cpu": "host",
            },
        }
    return {"epoch": int(time.time()), "vms": vms}


@contextlib.contextmanager
def simulator(binary):
    """Runs the simulator on free ports and yields the address of its proxy."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "world.yaml"
        path.write_text(json.dumps(world()))
        command = [binary, "simulate", "--listen", "127.0.0.1:0", "-o", "json", "--world", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                proxy = json.loads(process.stdout.readline())["talos_proxy"]
                host, port = proxy.removeprefix("socks5://").rsplit(":", 1)
                yield host, int(port)
            finally:
                process.terminate()


def receive(stream, count):
    data = b""
    while len(data) < count:
        part = stream.recv(count - len(data))
        assert part, "the proxy hung up"
        data += part
    return data


def connect(proxy, address, port=PORT):
    """SOCKS5 by RFC 1928: the connection, or the code of the refusal."""
    stream = socket.create_connection(proxy, timeout=20)
    stream.sendall(b"\x05\x01\x00")
    assert receive(stream, 2) == b"\x05\x00"
    stream.sendall(b"\x05\x01\x00\x01" + socket.inet_aton(address) + struct.pack(">H", port))
    code = receive(stream, 10)[1]
    if code:
        stream.close()
        return code
    return stream


def secure(stream):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(stream)


@contextlib.contextmanager
def channel(proxy, address):
    """A gRPC channel to a node: a relay speaks SOCKS5 and TLS for it, because grpcio knows neither Ed25519 nor SOCKS."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def relay():
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                node = secure(connect(proxy, address))
                assert node.selected_alpn_protocol() == "h2"
                for pair in ((client, node), (node, client)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=relay, daemon=True).start()
    with grpc.insecure_channel("127.0.0.1:%d" % listener.getsockname()[1]) as opened:
        yield opened
    listener.close()


def fields(data):
    """The fields of a message by number: whole numbers, or bytes."""
    found, at = {}, 0

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            length = number()
            value = data[at : at + length]
            at += length
        found.setdefault(key >> 3, []).append(value)
    return found


def text(number, value):
    value = value.encode()
    return bytes([number << 3 | 2, len(value)]) + value


def resource(data):
    """A resource in an answer: its id, the encoded message, the YAML."""
    content = fields(fields(data)[1][0])
    metadata, spec = fields(content[1][0]), fields(content[2][0])
    return metadata[3][0].decode(), spec[1][0], spec[2][0].decode()


def get(opened, namespace, kind, name):
    request = text(1, namespace) + text(2, kind) + text(3, name)
    return resource(opened.unary_unary("/cosi.resource.State/Get")(request, timeout=20))


def list_all(opened, namespace, kind):
    answers = opened.unary_stream("/cosi.resource.State/List")(text(1, namespace) + text(2, kind), timeout=20)
    return [resource(answer) for answer in answers]


def refused(call, code, words):
    try:
        call()
    except grpc.RpcError as error:
        assert error.code() == code and words in error.details(), (error.code(), error.details())
    else:
        raise AssertionError(f"not refused: {words}")


def check_maintenance(proxy, version, number):
    address = NODES[version]
    with secure(connect(proxy, address)) as node:
        assert node.version() == "TLSv1.3" and node.selected_alpn_protocol() == "h2"
        assert b"maintenance-service.talos.dev" in node.getpeercert(binary_form=True)
    with channel(proxy, address) as opened:
        name, proto, yaml = get(opened, "runtime", "MachineStatuses.runtime.talos.dev", "machine")
        assert name == "machine" and fields(proto)[1] == [3], proto
        assert yaml.startswith("stage: maintenance\n"), yaml
        _, proto, yaml = get(opened, "hardware", "SystemInformations.hardware.talos.dev", "systeminformation")
        uuid = UUID.format(number)
        assert fields(proto)[5] == [uuid.encode()] and f"uuid: {uuid}" in yaml
        links = {name: (proto, yaml) for name, proto, yaml in list_all(opened, "network", "LinkStatuses.net.talos.dev")}
        proto, yaml = links["eth0"]
        assert fields(proto)[30] == [bytes.fromhex(f"bc241100001{number}")] and f"bc:24:11:00:00:1{number}" in yaml
        _, proto, yaml = get(opened, "runtime", "PlatformMetadatas.talos.dev", "platformmetadata")
        platform = fields(proto)
        assert platform[1] == [b"nocloud"] and len(platform[6][0]) == 40 and "platform: nocloud" in yaml
        refused(
            lambda: get(opened, "runtime", "Versions.runtime.talos.dev", "none"),
            grpc.StatusCode.NOT_FOUND,
            "resource Versions.runtime.talos.dev(runtime/none@undefined) doesn't exist",
        )
        refused(
            lambda: get(opened, "runtime", "Kettles.runtime.talos.dev", "tea"),
            grpc.StatusCode.PERMISSION_DENIED,
            'resource type "Kettles.runtime.talos.dev" is not supported',
        )
        refused(
            lambda: opened.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=20),
            grpc.StatusCode.UNIMPLEMENTED,
            "unknown service grpc.health.v1.Health",
        )
        disks = opened.unary_unary("/storage.StorageService/Disks")(b"", timeout=20)
        disk = fields(fields(fields(disks)[1][0])[2][-1])
        assert disk[3] == [b"/dev/sda"] and disk[1] == [20 << 30], disk
        ask_version = opened.unary_unary("/machine.MachineService/Version")
        if version.startswith("1.12"):
            words = "API is not implemented in maintenance mode"
            refused(lambda: ask_version(b"", timeout=20), grpc.StatusCode.UNIMPLEMENTED, words)
        else:
            answer = fields(fields(ask_version(b"", timeout=20))[1][0])
            assert fields(answer[2][0])[1] == [f"v{version}".encode()]


def check_configured(proxy):
    """Success of the handshake proves nothing in TLS 1.3; the first read brings the alert."""
    with secure(connect(proxy, NODES["configured"])) as node:
        assert b"maintenance-service" not in node.getpeercert(binary_form=True)
        try:
            node.recv(1)
        except ssl.SSLError as error:
            assert "CERTIFICATE_REQUIRED" in str(error).upper().replace(" ", "_"), error
        else:
            raise AssertionError("a configured node talks to strangers")


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/debug/pvetalos")
    started = time.monotonic()
    with simulator(binary) as proxy:
        for number, version in enumerate(list(NODES)[:2]):
            print(f"  Talos {version} in maintenance")
            check_maintenance(proxy, version, number)
        print("  a configured node")
        check_configured(proxy)
        print("  nobody, and a closed port")
        assert connect(proxy, "192.168.1.99") == 4
        assert connect(proxy, NODES["1.13.9"], 22) == 5
    print(f"grpcio, OpenSSL and the simulator agree ({time.monotonic() - started:.1f} s)")


if __name__ == "__main__":
    main()

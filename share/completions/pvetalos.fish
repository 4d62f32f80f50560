# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_pvetalos_global_optspecs
    string join \n nodes= cluster= settings= cluster-name= token-file= secrets= simulate= o/output= v/verbose q/quiet color= log-format= h/help V/version
end

function __fish_pvetalos_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_pvetalos_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_pvetalos_using_subcommand
    set -l cmd (__fish_pvetalos_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c pvetalos -n "__fish_pvetalos_needs_command" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_needs_command" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_needs_command" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_needs_command" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_needs_command" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_needs_command" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_needs_command" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_needs_command" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_needs_command" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_needs_command" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_needs_command" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "provision" -d 'Bring every node to Talos maintenance mode'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "plan" -d 'Show what provision would do, without doing it'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "status" -d 'Show how every node is'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "destroy" -d 'Destroy the VMs of the cluster'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "validate" -d 'Check the files, without any network, and show what they mean'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "doctor" -d 'Check whether Proxmox is ready for the cluster, without changing anything'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "access" -d 'Print the commands that let pvetalos do its work on Proxmox, and nothing else'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "template" -d 'Make, list and delete the templates that nodes are cloned from'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "schematic" -d 'Tell what an Image Factory calls a schematic and its images'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "wait" -d 'Wait until the nodes are in maintenance mode, or configured'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "output" -d 'Print the nodes\' addresses, VMIDs, MACs, roles and states, for scripts and for the tools that go on with them'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "simulate" -d 'Simulate a Proxmox cluster on this machine, with Talos in its VMs'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "init" -d 'Write the files that a repository begins with'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "schema" -d 'Print the JSON Schema of a file, for editors'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "completions" -d 'Print the completion script of a shell'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "man" -d 'Print the manual page of the program, or write those of all commands into a folder'
complete -c pvetalos -n "__fish_pvetalos_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l only -d 'Only do something with these nodes; the others are only shown' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l timeout -d 'How long to wait for Talos on each node, as in 90s or 10m' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l clones-per-storage -d 'Clones and other new disks at the same time on one storage' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l parallel -d 'Nodes that are worked on at the same time' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l adopt -d 'Give our mark to VMs that have the name and the MAC address of a node, and nobody\'s mark'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l disruptive -d 'Also do what interrupts running nodes: one at a time, control planes last'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l no-start -d 'Leave VMs off that are off'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l create-template -d 'Make the templates first that new nodes need and that are not there'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l enable-import -d 'Let the storage for images take disk images for import, if it does not yet'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l no-wait -d 'Do not wait for Talos'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l allow-secureboot-off -d 'Take a node that should boot with secure boot and does not'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l yes -d 'Apply without asking'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand provision" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l only -d 'Only do something with these nodes; the others are only shown' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l adopt -d 'Give our mark to VMs that have the name and the MAC address of a node, and nobody\'s mark'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l disruptive -d 'Also do what interrupts running nodes: one at a time, control planes last'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l no-start -d 'Leave VMs off that are off'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l exit-code -d 'End with code 4 when there is something to do'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand plan" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l watch -d 'Look again every so many seconds [default: 5], until Ctrl-C' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l exit-code -d 'End with code 5 when a node is not healthy'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand status" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l only -d 'Only do something with these nodes; the others are only shown' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l left-over -d 'Destroy VMs of nodes that are not in the files any more, and no others' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l parallel -d 'Nodes that are worked on at the same time' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l break-quorum -d 'Also destroy configured control planes while others stay'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l detach-foreign -d 'Also destroy VMs that hold volumes of others, which stay'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l purge -d 'Also take the VMs out of backup jobs, replication and HA'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l yes -d 'Destroy without asking'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand destroy" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -l explain -d 'Show for every value where it came from'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand validate" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l pve -d 'The release of Proxmox VE' -r -f -a "8\t'Proxmox VE 8'
9\t'Proxmox VE 9'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l pool -d 'Allow VMs in this pool only [default: the nodes\' own pools, if all are in one]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l clone-from -d 'Templates outside of the pool that nodes are cloned from' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l user -d 'The user that the token belongs to [default: that of the token in use, or pvetalos@pve]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l token -d 'The name of the token [default: that of the token in use, or pvetalos]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l templates -d 'Also what `template create` needs'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l enable-import -d 'Also what `template create --enable-import` needs'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l start-order -d 'Also setting the order in which VMs start'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l free-memory -d 'Also seeing the free memory of hosts, by which nodes without a host are placed'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -l guest-agent -d 'Also asking the guest agent about a node that does not answer'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand access" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -f -a "create" -d 'Make the templates that the nodes need, from images of an Image Factory'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -f -a "list" -d 'List the templates of all hosts'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -f -a "show" -d 'Show everything about a template'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -f -a "delete" -d 'Delete templates that pvetalos made'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and not __fish_seen_subcommand_from create list show delete help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l talos-version -d 'The Talos release, as in 1.12.0 [default: what the nodes need]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l schematic -d 'A schematic file, as the Image Factory takes it' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l schematic-id -d 'The id of a schematic' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l host -d 'Only on these hosts [default: those of the nodes]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l storage -d 'The storage of the template\'s disk [default: that of the nodes]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l image-storage -d 'The storage that images are brought to [default: `image_storage` of the files]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l format -d 'The form of the disk image: qcow2 or raw' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l url -d 'Where the hosts fetch the image, instead of from the factory' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l image -d 'A disk image of this machine to upload, for hosts without internet' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l checksum -d 'What the image has to come to, as sha256:… or sha512:…' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l factory -d 'The Image Factory' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l secureboot -d 'The image that is signed for secure boot'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l any-extension -d 'Take extensions as they are, also when their names look misspelt'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -l enable-import -d 'Let that storage take disk images for import, if it does not yet'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from create" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l yes -d 'Do not ask'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from delete" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from help" -f -a "create" -d 'Make the templates that the nodes need, from images of an Image Factory'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the templates of all hosts'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show everything about a template'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Delete templates that pvetalos made'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand template; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -f -a "id" -d 'Print the id of a schematic, computed here'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -f -a "url" -d 'Print where an image is, and the installer that belongs to it'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -f -a "push" -d 'Register a schematic with an Image Factory, which can then build images of it'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and not __fish_seen_subcommand_from id url push help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -l any-extension -d 'Take extensions as they are, also when their names look misspelt'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from id" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l schematic -d 'A schematic file, as the Image Factory takes it' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l schematic-id -d 'The id of a schematic' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l talos-version -d 'The Talos release, as in 1.12.0' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l format -d 'The form of the disk image: qcow2 or raw' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l factory -d 'The Image Factory' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l any-extension -d 'Take extensions as they are, also when their names look misspelt'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -l secureboot -d 'The image that is signed for secure boot'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from url" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l factory -d 'The Image Factory' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -l any-extension -d 'Take extensions as they are, also when their names look misspelt'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from push" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from help" -f -a "id" -d 'Print the id of a schematic, computed here'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from help" -f -a "url" -d 'Print where an image is, and the installer that belongs to it'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from help" -f -a "push" -d 'Register a schematic with an Image Factory, which can then build images of it'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schematic; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l for -d 'What to wait for' -r -f -a "maintenance\t'Ready for a machine configuration'
configured\t'With a machine configuration'
any\t'Either of the two'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l timeout -d 'How long to wait' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l only -d 'Only these nodes' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand wait" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l factory -d 'The Image Factory' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l talos-proxy -d 'A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens [env: PVETALOS_TALOS_PROXY]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l talosctl -d 'Print the talosctl commands that make a cluster of the nodes, as a script'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l talhelper -d 'Print a talconfig.yaml for talhelper'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -l insecure -d 'Do not verify the server\'s certificate: whoever is in between can steal the token'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand output" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l listen -d 'Where to listen: loopback only; port 0 takes a free one' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l talos-proxy-port -d 'The port of the SOCKS5 proxy through which the simulated nodes can be reached; 0 takes a free one' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l world -d 'The world to begin with [default: one host, built in]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l factory -d 'Serve an Image Factory here as well, loopback only; port 0 takes a free one' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l keep -d 'Keep the world in this file, and go on with it the next time' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l pve -d 'Which Proxmox VE it is [default: what the world says]' -r -f -a "8\t'Proxmox VE 8.4'
9\t'Proxmox VE 9.2'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l latency -d 'Wait so long with every answer' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l clone-time -d 'How long a full clone of the largest template takes [default: what the world says]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l seed -d 'Make the same MACs, ids and drawn faults again' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l draw-faults -d 'Draw so many faults and spread them over the first 200 requests' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand simulate" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand init" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand schema" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand completions" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l folder -d 'Write a page for the program and for every command into this folder, over those of an earlier version' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l nodes -d 'The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l cluster -d 'The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] [env: PVETALOS_CLUSTER_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l settings -d 'The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] [env: PVETALOS_SETTINGS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l cluster-name -d 'The name by which the cluster\'s VMs are recognised [env: PVETALOS_CLUSTER]' -r
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l token-file -d 'A file that holds the API token as `user@realm!name=secret`' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l secrets -d 'A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l simulate -d 'Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without nodes the built-in sample is used' -r -F
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -s o -l output -d 'How to print the result' -r -f -a "table\t'For people'
json\t'For programs'
yaml\t'For programs and people'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l color -d 'When to use colours; NO_COLOR in the environment is heeded' -r -f -a "auto\t''
always\t''
never\t''"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -l log-format -d 'How to write the log to standard error' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -s v -l verbose -d 'Say more; twice or three times for even more'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -s q -l quiet -d 'Say nothing but what is wrong or dangerous'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand man" -s V -l version -d 'Print version'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "provision" -d 'Bring every node to Talos maintenance mode'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "plan" -d 'Show what provision would do, without doing it'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "status" -d 'Show how every node is'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "destroy" -d 'Destroy the VMs of the cluster'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "validate" -d 'Check the files, without any network, and show what they mean'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "doctor" -d 'Check whether Proxmox is ready for the cluster, without changing anything'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "access" -d 'Print the commands that let pvetalos do its work on Proxmox, and nothing else'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "template" -d 'Make, list and delete the templates that nodes are cloned from'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "schematic" -d 'Tell what an Image Factory calls a schematic and its images'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "wait" -d 'Wait until the nodes are in maintenance mode, or configured'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "output" -d 'Print the nodes\' addresses, VMIDs, MACs, roles and states, for scripts and for the tools that go on with them'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "simulate" -d 'Simulate a Proxmox cluster on this machine, with Talos in its VMs'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "init" -d 'Write the files that a repository begins with'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "schema" -d 'Print the JSON Schema of a file, for editors'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "completions" -d 'Print the completion script of a shell'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "man" -d 'Print the manual page of the program, or write those of all commands into a folder'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and not __fish_seen_subcommand_from provision plan status destroy validate doctor access template schematic wait output simulate init schema completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and __fish_seen_subcommand_from template" -f -a "create" -d 'Make the templates that the nodes need, from images of an Image Factory'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and __fish_seen_subcommand_from template" -f -a "list" -d 'List the templates of all hosts'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and __fish_seen_subcommand_from template" -f -a "show" -d 'Show everything about a template'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and __fish_seen_subcommand_from template" -f -a "delete" -d 'Delete templates that pvetalos made'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and __fish_seen_subcommand_from schematic" -f -a "id" -d 'Print the id of a schematic, computed here'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and __fish_seen_subcommand_from schematic" -f -a "url" -d 'Print where an image is, and the installer that belongs to it'
complete -c pvetalos -n "__fish_pvetalos_using_subcommand help; and __fish_seen_subcommand_from schematic" -f -a "push" -d 'Register a schematic with an Image Factory, which can then build images of it'

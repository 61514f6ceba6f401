// The sentences of the specification about imports, in its words and its order, each with the tests that prove it.

/**
 * `tests`: files with a test whose title has the sentence; where several tests prove parts of it, each with its title.
 * Files are below test/.
 */
type Sentence = {
  point: number
  words: string
  tests: readonly (string | readonly [file: string, title: string])[]
}

export const sentences: readonly Sentence[] = [
  {
    point: 1,
    words: 'Source panel: kind A is accessed with an API token.',
    tests: ['imports/sources/specification.test.ts'],
  },
  {
    point: 1,
    words: 'Kind B is accessed with an admin API key plus a pass.',
    tests: ['imports/sources/specification.test.ts'],
  },
  { point: 1, words: 'The source address is entered with its port.', tests: ['imports/sources/specification.test.ts'] },
  {
    point: 1,
    words: 'A private-network address is allowed; a link-local address is refused.',
    tests: ['imports/sources/specification.test.ts'],
  },
  {
    point: 1,
    words: "If the key pair restricts callers by address, the controller's address must be allowed.",
    tests: ['imports/sources/specification.test.ts'],
  },
  {
    point: 1,
    words: 'Imports only read the source API and change nothing there.',
    tests: ['imports/sources/specification.test.ts'],
  },
  {
    point: 2,
    words:
      'Kind B uses a self-signed certificate by default: the SHA-256 fingerprint is displayed and the ' +
      'operator chooses to trust it.',
    tests: ['imports/sources/specification.test.ts'],
  },
  {
    point: 3,
    words: 'An import may carry an optional name, shown in the list, at the top of the import and in the audit log.',
    tests: ['imports/discovery.test.ts'],
  },
  {
    point: 3,
    words: 'It can be changed or cleared at any time, even after finishing, with PATCH /admin/migrations/{id}.',
    tests: ['imports/specification.test.ts'],
  },
  {
    point: 4,
    words: "Discovery lists the source's hypervisors, packages, IP pools and servers.",
    tests: ['imports/discovery.test.ts'],
  },
  {
    point: 4,
    words: 'Before migrating starts, Discover again re-reads the source and resets the mappings.',
    tests: ['imports/discovery.test.ts'],
  },
  {
    point: 4,
    words: 'Cancel import deletes an import in which nothing has moved, together with its stored credentials.',
    tests: ['imports/discovery.test.ts'],
  },
  {
    point: 5,
    words:
      'Mapping chooses: which own package each source package becomes (or Leave out of this import, ' +
      'keeping its servers on the source); what happens to each IP range; which node group of the own ' +
      "platform receives each hypervisor's servers (copies are spread over the group's nodes one " +
      "after another by the group's placement rule, like new orders; the dry run shows the node per " +
      'server); how each conflict is settled.',
    tests: [
      [
        'imports/specification.test.ts',
        'Mapping chooses: which own package each source package becomes (or Leave out of this import, ' +
          'keeping its servers on the source); what happens to each IP range; which node group of the own ' +
          "platform receives each hypervisor's servers; how each conflict is settled.",
      ],
      [
        'imports/dry-run/dry-run.test.ts',
        'copies are spread over the nodes one after another by the placement rule, like new orders',
      ],
      [
        'imports/dry-run/dry-run.test.ts',
        'the dry run shows the node per server, what is copied and how long each is away',
      ],
    ],
  },
  {
    point: 6,
    words: 'Server ends up on one of the own nodes',
    tests: [
      [
        'imports/migrate/specification.test.ts',
        'Server shuts down on the source, the disk is pulled over SSH, it starts on the node with the ' +
          'same MAC and addresses',
      ],
    ],
  },
  { point: 6, words: 'Server stays on the same hypervisor', tests: ['imports/migrate/specification.test.ts'] },
  {
    point: 6,
    words: 'SSH as root from the own node to the source hypervisor',
    tests: [
      ['drivers/source-hosts/node-access.test.ts', 'run the one command shown, as root, on each source hypervisor'],
      ['drivers/source-hosts/node-access.test.ts', 'could not log in over SSH (key missing on the source)'],
    ],
  },
  {
    point: 6,
    words: 'The agent installed on the source hypervisor, enrolled as a node',
    tests: [['imports/specification.test.ts', 'Adopt mode: the source hypervisor is enrolled as a node.']],
  },
  {
    point: 6,
    words: 'While the disk copies, roughly one minute per 6 GB',
    tests: ['imports/dry-run/estimate.test.ts'],
  },
  {
    point: 6,
    words: 'One restart',
    tests: [
      [
        'imports/migrate/specification.test.ts',
        "The disk is renamed into the node's storage (logical-volume rename, ZFS rename or file rename) " +
          'and the server restarts once',
      ],
    ],
  },
  {
    point: 6,
    words:
      'Server shuts down on the source, the disk is pulled over SSH, it starts on the node with the ' +
      'same MAC and addresses',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 6,
    words:
      "The disk is renamed into the node's storage (logical-volume rename, ZFS rename or file rename) " +
      'and the server restarts once',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 6,
    words: 'The copy is removed and the original starts again',
    tests: [['imports/after/roll-back.test.ts', 'Roll back removes the copy and starts the original again.']],
  },
  {
    point: 6,
    words: 'The original definition is restored',
    tests: [
      [
        'end-to-end/imports/virtualizor.test.ts',
        'both go back: the copy is removed, and the original definition is restored',
      ],
    ],
  },
  {
    point: 7,
    words:
      'Keep the addresses: a new pool for the range is added when its first server moves; use when ' +
      'the range is or will be routed to the own nodes.',
    tests: ['imports/specification.test.ts'],
  },
  {
    point: 7,
    words:
      'Give copies new addresses: each copy gets IPv4 addresses from the pools of the node it lands ' +
      'on; source IPv6 addresses are dropped.',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 7,
    words: 'After start the node switches the address inside the guest through the guest agent (qemu-guest-agent).',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 7,
    words: 'If the guest has no agent, the import says so and the node keeps retrying until one answers.',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 7,
    words: 'With Email customers on, owners are emailed the new addresses.',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 7,
    words: 'The dry run checks that each node has enough free addresses.',
    tests: ['imports/dry-run/dry-run.test.ts'],
  },
  { point: 7, words: 'Adopted servers always keep their addresses.', tests: ['imports/migrate/specification.test.ts'] },
  {
    point: 7,
    words:
      'Part of your pool: offered only when the range falls inside one of the own pools; servers keep their addresses.',
    tests: ['imports/parts.test.ts'],
  },
  {
    point: 7,
    words: 'Leave out of this import: servers with addresses in the range stay on the source.',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 7,
    words: 'Rolling a server back returns its new addresses to the pool.',
    tests: ['imports/after/roll-back.test.ts'],
  },
  {
    point: 8,
    words: 'Owners who already have an account: servers only go into an existing account that the operator chose.',
    tests: ['imports/specification.test.ts'],
  },
  {
    point: 8,
    words:
      'For a customer or reseller account the choice is merge into it or import as a separate account ' +
      '(a plus-tagged variant of the address with a tag for the source kind).',
    tests: ['imports/owners.test.ts'],
  },
  {
    point: 8,
    words:
      'For a staff member the servers never go into the staff account itself: they go into that ' +
      "person's own client area, or are imported separately.",
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 8,
    words:
      'If the separate address (or an imports@<source host> address for servers with unknown owner) ' +
      'is already used by an account this import did not create, that choice is not offered and those ' +
      'servers stay on the source until that account is renamed.',
    tests: ['imports/specification.test.ts'],
  },
  {
    point: 8,
    words:
      'Accounts are re-checked at the dry run and at start; a conflict that appeared since refuses ' +
      'start and waits for the choice.',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 8,
    words: 'A server whose owner gets an account during the run fails instead of joining it and stays on the source.',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 9,
    words:
      "Node access (copy mode): the copying nodes' keys must be in root's authorized_keys on each source hypervisor.",
    tests: [
      ['drivers/source-hosts/node-access.test.ts', 'run the one command shown, as root, on each source hypervisor'],
      ['drivers/source-hosts/node-access.test.ts', 'could not log in over SSH (key missing on the source)'],
    ],
  },
  {
    point: 9,
    words:
      'Either Add keys with root password (a copying node signs in once on SSH port 22 and adds every ' +
      "copying node's key, without duplicates; the password is used for that sign-in only and stored " +
      'nowhere, not in the database, logs or audit log), or run the one command shown, as root, on ' +
      'each source hypervisor (needed when root password login is disabled there).',
    tests: [
      [
        'imports/source-access/node-access.test.ts',
        "Add keys with root password: a copying node signs in once and adds every copying node's key, " +
          'without duplicates',
      ],
      [
        'drivers/source-hosts/node-access.test.ts',
        'signs in once on SSH port 22 and adds every copying node’s key, without duplicates',
      ],
      [
        'imports/source-access/node-access.test.ts',
        'the password is stored nowhere, not in the database, logs or audit log',
      ],
      ['drivers/source-hosts/node-access.test.ts', 'run the one command shown, as root, on each source hypervisor'],
    ],
  },
  {
    point: 10,
    words: 'Adopt mode: the source hypervisor is enrolled as a node.',
    tests: ['imports/specification.test.ts'],
  },
  {
    point: 10,
    words:
      "It is recognised by address: its address in the source panel must equal the node's management " +
      'address or one of its own addresses.',
    tests: ['imports/discovery.test.ts'],
  },
  {
    point: 10,
    words: "Kind B lists its own host as localhost / 127.0.0.1; the import then uses the panel's address.",
    tests: ['imports/sources/specification.test.ts'],
  },
  { point: 10, words: 'Server names are never used to recognise a node.', tests: ['imports/discovery.test.ts'] },
  {
    point: 11,
    words:
      'Dry run checks, for every server from the node that will do the work: SSH login works; the ' +
      "domain exists; exactly one raw or qcow2 disk exists (kind A's cloud-init drive file does not " +
      'count and stays on the source); it boots with BIOS, not UEFI; for kind A, the server is ' +
      'running (kind A uses transient domains, so a stopped server is absent from the hypervisor; the ' +
      'import stores each domain definition before shutdown and re-creates it running after a failed ' +
      'copy or rollback); its MAC address.',
    tests: [
      ['imports/dry-run/dry-run.test.ts', 'every server is checked from the node that will do the work'],
      ['imports/dry-run/dry-run.test.ts', 'SSH login works'],
      ['imports/dry-run/dry-run.test.ts', 'the domain exists'],
      [
        'imports/dry-run/dry-run.test.ts',
        "exactly one raw or qcow2 disk exists (kind A's cloud-init drive file does not count)",
      ],
      ['imports/dry-run/dry-run.test.ts', 'it boots with BIOS, not UEFI'],
      ['imports/dry-run/dry-run.test.ts', 'for kind A, the server is running'],
      [
        'imports/after/roll-back.test.ts',
        'the import stores each domain definition before shutdown and re-creates it running after a ' +
          'failed copy or rollback',
      ],
      ['imports/dry-run/dry-run.test.ts', 'its MAC address'],
    ],
  },
  { point: 11, words: 'Run dry run again keeps the mappings.', tests: ['imports/dry-run/dry-run.test.ts'] },
  {
    point: 11,
    words: 'A server added or removed at the source needs Discover again.',
    tests: ['imports/dry-run/dry-run.test.ts'],
  },
  {
    point: 12,
    words: 'Migrate: each server shows progress; a failed server may be retried safely.',
    tests: [
      ['imports/migrate/specification.test.ts', 'each server shows progress; a failed server may be retried safely.'],
    ],
  },
  {
    point: 12,
    words:
      "Each server's operating system is shown (what the source says, then what the guest agent " +
      'reports once it runs on the node).',
    tests: ['imports/migrate/copy.test.ts'],
  },
  {
    point: 12,
    words:
      "Each server's copy or adoption is a job of kind Import, with a live log of every command run " +
      'on the source hypervisor; each retry is a new job.',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 12,
    words: 'Discovery, mapping and dry run are not jobs.',
    tests: ['imports/migrate/specification.test.ts'],
  },
  {
    point: 13,
    words:
      'Verify: each migrated server lists checks (runs on its node; first address answers ping; for ' +
      'servers given new addresses, the switch inside succeeded).',
    tests: ['imports/after/verify.test.ts'],
  },
  {
    point: 13,
    words: 'Check again switches addresses first if not yet done, then re-runs the checks.',
    tests: ['imports/after/verify.test.ts'],
  },
  {
    point: 13,
    words: 'A node whose agent is older than the controller reports that, and the agent must be updated first.',
    tests: ['imports/after/verify.test.ts'],
  },
  {
    point: 13,
    words:
      'For Windows guests (detected through the guest agent) addresses are set with PowerShell, and ' +
      'an answering Remote Desktop port 3389 also counts as reachable because ping is blocked by ' +
      'default.',
    tests: ['imports/after/verify.test.ts'],
  },
  {
    point: 13,
    words: 'Roll back removes the copy and starts the original again.',
    tests: ['imports/after/roll-back.test.ts'],
  },
  {
    point: 14,
    words:
      "Operating system display: the source's template name is converted to a readable name, or " +
      'Imported from ... when absent; once the guest agent answers, the node reads the real one ' +
      'within about a minute.',
    tests: [
      [
        'imports/sources/specification.test.ts',
        'Operating system display: the source’s template name is converted to a readable name, or ' +
          'Imported from ... when absent',
      ],
      [
        'imports/migrate/copy.test.ts',
        "Each server's operating system is shown (what the source says, then what the guest agent " +
          'reports once it runs on the node); once the guest agent answers, the node reads the real one ' +
          'within about a minute.',
      ],
    ],
  },
  {
    point: 14,
    words:
      'Staff with the Settings, root password and rescue permission can click Detect OS on a running ' +
      "server's Overview.",
    tests: ['imports/after/system.test.ts'],
  },
  {
    point: 14,
    words: "Both are recorded in the server's activity and the audit log.",
    tests: ['imports/after/system.test.ts'],
  },
  { point: 15, words: 'Finish deletes the stored API credential.', tests: ['imports/after/finish.test.ts'] },
  {
    point: 16,
    words: 'Optional removal of the source software from adopted nodes, asked per node after finishing.',
    tests: ['imports/source-removal/source-removal.test.ts'],
  },
  {
    point: 16,
    words: 'Choices: keep it, or remove it through the node agent, or run listed manual commands as root.',
    tests: ['imports/source-removal/source-removal.test.ts'],
  },
  {
    point: 16,
    words: "The agent-run removal changes nothing while libvirt still holds a server that is not the panel's.",
    tests: [
      [
        'drivers/source-removal/sentences.test.ts',
        'The agent-run removal changes nothing while libvirt still holds a server that is not the panel’s',
      ],
    ],
  },
  {
    point: 16,
    words:
      'It stops the source panel services and cron entries (keeping backup copies of the crontab and, ' +
      'for kind A, of authorized_keys), moves the source software folders to a timestamped folder ' +
      'under /root, never deletes anything, then verifies that previously running servers still run ' +
      'and their bridges exist, and restores everything otherwise.',
    tests: [
      [
        'drivers/source-removal/sentences.test.ts',
        'It stops the source panel services and cron entries, keeping backup copies of the crontab',
      ],
      [
        'drivers/source-removal/sentences.test.ts',
        'For kind A it keeps a copy of authorized_keys, and takes out exactly the control server’s line',
      ],
      [
        'drivers/source-removal/sentences.test.ts',
        'It moves the source software folders to a timestamped folder under /root, and never deletes anything',
      ],
      [
        'drivers/source-removal/sentences.test.ts',
        'It then verifies that previously running servers still run, and restores everything otherwise',
      ],
      [
        'drivers/source-removal/sentences.test.ts',
        'It then verifies that their bridges exist, and restores everything otherwise',
      ],
    ],
  },
  {
    point: 16,
    words:
      "For kind B it also turns off the source's network service and moves its folders only when " +
      "every bridge used by the servers is defined in the node's own network settings; otherwise it " +
      'leaves them and prints commands to write the bridge definition (netplan, ' +
      '/etc/network/interfaces or network-scripts), keeping copies in /root/network-before-<bridge>; ' +
      'with netplan the commands only run netplan generate, and netplan try or netplan apply must not ' +
      'be run; the new settings take effect at next boot.',
    tests: [
      [
        'drivers/source-removal/sentences.test.ts',
        'For kind B it turns off the source’s network service only when every bridge is in the node’s settings',
      ],
      [
        'drivers/source-removal/sentences.test.ts',
        'Otherwise it leaves them and prints commands to write the bridge definition',
      ],
    ],
  },
  {
    point: 16,
    words:
      "For kind A it finds leftovers by name (services, containers, cron jobs, the control server's " +
      'SSH key line in authorized_keys, and its install folder); it never touches libvirt, qemu, SSH, ' +
      "Docker itself, networking, the panel's agent or the data folder that holds adopted servers' " +
      'disks.',
    tests: [
      [
        'drivers/source-removal/sentences.test.ts',
        'For kind A it finds leftovers by name: services, containers, cron jobs, the key line, its install folder',
      ],
      [
        'drivers/source-removal/sentences.test.ts',
        'It never touches libvirt, qemu, SSH, Docker itself, networking or the panel’s agent',
      ],
      [
        'drivers/source-removal/sentences.test.ts',
        'It never touches the data folder that holds adopted servers’ disks',
      ],
    ],
  },
  {
    point: 16,
    words:
      "It warns while servers are still on the source, while the source's own panel runs on the node, " +
      'and while rollback is still open.',
    tests: [
      ['imports/source-removal/source-removal.test.ts', 'It warns while servers are still on the source'],
      ['imports/source-removal/source-removal.test.ts', 'It warns while the source’s own panel runs on the node'],
      ['imports/source-removal/source-removal.test.ts', 'It warns while rollback is still open'],
    ],
  },
  { point: 16, words: 'The choice can be changed.', tests: ['imports/source-removal/source-removal.test.ts'] },
  {
    point: 17,
    words:
      'Moving a fleet: always connect to the source panel itself (the master or the panel), which is ' +
      'the only place with an API.',
    tests: [['imports/sources/virtualizor.test.ts', 'with a warning where the panel is not the master']],
  },
  {
    point: 17,
    words:
      'Use Leave out of this import on every hypervisor except the one being moved; migrate, verify, ' +
      'finish; start a new import for the next one (servers moved earlier are skipped with the note ' +
      'Already moved by an earlier import).',
    tests: [
      [
        'imports/after/fleet.test.ts',
        'Use Leave out of this import on every hypervisor except the one being moved; migrate, verify, ' +
          'finish; start a new import for the next one',
      ],
      [
        'imports/migrate/specification.test.ts',
        'servers moved earlier are skipped with the note Already moved by an earlier import',
      ],
    ],
  },
  {
    point: 17,
    words:
      'Do the master last: the source software is not removed from the master while any server on ' +
      'other hypervisors still depends on it.',
    tests: ['imports/after/fleet.test.ts'],
  },
  {
    point: 18,
    words:
      'Per-server refusal messages: OpenVZ or LXC container (stays on source, containers cannot run ' +
      'on KVM); Windows guest (stays on source, not supported by imports); UEFI boot (only BIOS ' +
      'servers can be imported); root password not accepted (wrong password or root password login ' +
      'disabled; use the manual command); could not log in over SSH (key missing on the source).',
    tests: [
      [
        'imports/sources/specification.test.ts',
        'Per-server refusal messages: OpenVZ or LXC container (stays on source, containers cannot run ' +
          'on KVM); Windows guest (stays on source, not supported by imports)',
      ],
      ['imports/dry-run/dry-run.test.ts', 'containers, Windows and UEFI stay on the source'],
      [
        'drivers/source-hosts/node-access.test.ts',
        'root password not accepted (wrong password or root password login disabled)',
      ],
      ['drivers/source-hosts/node-access.test.ts', 'could not log in over SSH (key missing on the source)'],
    ],
  },
]

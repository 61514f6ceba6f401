// Puts on a hypervisor the things of another panel, as public facts describe them: services, cron files, its
// folders, and the key of its control server.
import type { SourceHypervisor } from './lab.ts'

type File = { path: string; text: string; mode?: string }
const program = (path: string): File => ({ path, text: '#!/bin/sh\nexec sleep infinity\n', mode: '755' })
const service = (name: string, command: string, folder = '/usr/lib/systemd/system'): File => ({
  path: `${folder}/${name}.service`,
  text: `[Unit]\nDescription=${name}\n\n[Service]\nExecStart=${command}\nRestart=always\n`,
})

/** The lines of root's keys: of the control server, and one that is somebody else's. */
export const panelKeys = {
  solusvm2: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCcontrol root@solus-master.example.com',
  virtualizor: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCslave root@virtualizor-master.example.com',
} as const
export const foreignKey = 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCsupport support@solusvm.com'

const php = '/usr/local/emps/bin/php'
const panels: Record<keyof typeof panelKeys, readonly File[]> = {
  solusvm2: [
    program('/usr/local/solus/bin/agent'),
    service('solus-agent', '/usr/local/solus/bin/agent'),
    service('solusnxt-agent', '/usr/local/solusnxt/bin/agent', '/etc/systemd/system'),
    { path: '/etc/solus/agent.json', text: '{"computer_resource_id":3,"secret":"canary-of-the-agent"}\n', mode: '600' },
    { path: '/var/log/solus/agent.log', text: 'started\n' },
  ],
  virtualizor: [
    program(php),
    program('/usr/local/virtualizor/bin/virtualizor'),
    {
      path: '/usr/local/virtualizor/universal.php',
      text: "<?php $globals['pass'] = 'canary-of-the-panel';\n",
      mode: '600',
    },
    service('virtualizor', '/usr/local/virtualizor/bin/virtualizor'),
    service('virtnetwork', '/usr/local/virtualizor/bin/virtnetwork'),
    { path: '/etc/cron.d/virtualizor', text: `*/5 * * * * root ${php} /usr/local/virtualizor/scripts/cron.php\n` },
    { path: '/var/virtualizor/log/virtualizor.log', text: 'started\n' },
  ],
}

/** Puts there what the panel leaves, and its line before the other keys of root. */
export async function installPanel(source: SourceHypervisor, kind: keyof typeof panels) {
  for (const { path, text, mode } of panels[kind]) await source.write(path, text, mode)
  const keys = (await source.run('cat', '/root/.ssh/authorized_keys')).out
  await source.write('/root/.ssh/authorized_keys', `${panelKeys[kind]}\n${foreignKey}\n${keys}`, '600')
}

// A removal under a real systemd: units, and scripts of SysV init as systemd runs them.
import { describe, expect, test } from 'bun:test'
import {
  defineInInterfaces,
  installSolusVm2,
  installVirtualizor,
  PLACES,
} from '../../support/source-removal/installations.ts'
import { type Machine, noMachines, scopeOf, withMachine } from '../../support/source-removal/machine.ts'
import { note } from '../tools.ts'

const noSystemd = noMachines() ?? (Bun.which('systemd-nspawn') ? undefined : 'no systemd-nspawn')
const files = (machine: Machine) => machine.files(...PLACES.filter((path) => !path.startsWith('/run/')))
async function stateOf(machine: Machine, ...units: string[]) {
  const { out } = await machine.run('systemctl', 'show', '-p', 'Id,ActiveState,UnitFileState', ...units)
  return out.trim()
}

describe.skipIf(note(noSystemd, 'removals under a real systemd'))('a real systemd', () => {
  test('stops and disables units, and has them run and enabled again after a restore', () =>
    withMachine(async (machine) => {
      await installSolusVm2(machine)
      await machine.must('cp', '/bin/sleep', '/usr/local/solus/bin/agent')
      const units = ['solus-agent', 'own-service']
      machine.write('/usr/lib/systemd/system/solus-agent.service', unitOf('/usr/local/solus/bin/agent 1000'))
      machine.write('/etc/systemd/system/own-service.service', unitOf('/bin/sleep 1001'))
      await machine.must('rm', '/etc/systemd/system/metrics-of-solus.service')
      await machine.must('systemctl', 'daemon-reload')
      await machine.must('systemctl', 'start', ...units)
      const [before, running] = [files(machine), await stateOf(machine, ...units)]
      expect(running.match(/ActiveState=active\nUnitFileState=enabled/g)?.length).toBe(2)
      const { output, error } = await machine.remove(scopeOf('solusvm2'))
      expect(error).toBeUndefined()
      expect(output!.items.map(({ name }) => name)).toContain('solus-agent.service')
      expect(await stateOf(machine, 'solus-agent')).toContain('ActiveState=inactive\nUnitFileState=disabled')
      expect(await stateOf(machine, 'own-service')).toContain('ActiveState=active\nUnitFileState=enabled')
      expect((await machine.restore()).output!.left).toEqual([])
      expect(await stateOf(machine, ...units)).toBe(running)
      expect(files(machine)).toEqual(before)
    }, 'systemd'))

  test('stops the scripts of SysV init that it runs, never the network, and starts them again after a restore', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      const script = (name: string) =>
        `#!/bin/sh\n### BEGIN INIT INFO\n# Provides: ${name}\n# Required-Start:\n# Required-Stop:\n` +
        `# Default-Start: 2 3 4 5\n# Default-Stop: 0 1 6\n### END INIT INFO\necho "$0 $1" >>/run/commands\n` +
        `case $1 in start) : >/run/up-${name} ;; stop) rm -f /run/up-${name} ;; esac\n`
      const names = ['virtualizor', 'virtnetwork', 'zzvirtservice']
      for (const name of names) machine.write(`/etc/init.d/${name}`, script(name), 0o755)
      await machine.must('systemctl', 'daemon-reload')
      await machine.must('systemctl', 'start', ...names)
      const before = files(machine)
      const up = () => names.filter((name) => machine.has(`/run/up-${name}`))
      expect(up()).toEqual(names)
      const { output, error } = await machine.remove(scopeOf('virtualizor'))
      expect(error).toBeUndefined()
      expect(
        output!.items.filter(({ kind }) => kind === 'service').map(({ becomes }) => becomes.split(':')[0]),
      ).toEqual([...['stopped and disabled', 'disabled, not stopped', 'disabled, not stopped']])
      expect(up()).toEqual(['virtnetwork', 'zzvirtservice'])
      const wanted = await machine.must('systemctl', 'list-dependencies', '--plain', 'multi-user.target')
      for (const name of names) expect(wanted).not.toContain(name)
      expect((await machine.restore()).output!.left).toEqual([])
      expect(up()).toEqual(names)
      const again = await machine.must('systemctl', 'list-dependencies', '--plain', 'multi-user.target')
      for (const name of names) expect(again).toContain(`${name}.service`)
      expect(files(machine)).toEqual(before)
    }, 'systemd'))
})

const unitOf = (program: string) =>
  `[Unit]\nDescription=a test\n[Service]\nExecStart=${program}\nRestart=always\n[Install]\nWantedBy=multi-user.target\n`

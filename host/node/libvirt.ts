// libvirt, which runs the virtual servers.
import { becomes, type Machine, place } from '../machine/machine.ts'
import { Failed } from '../machine/report.ts'
import { tellService } from '../services/command.ts'
import { addSupervised, journalOf, setDropIn } from '../services/install-service.ts'
import { oldKeeperOf } from '../services/old-keeper.ts'

const daemons = ['virtlogd', 'libvirtd']
const VERSION = ['-c', 'qemu:///system', 'version']
const answers = ({ exec }: Machine) => exec.ask('virsh', VERSION).code === 0

/** Answers which hypervisor it runs. Throws `Failed`. */
export async function startLibvirt(machine: Machine): Promise<string | undefined> {
  const { exec, hasSystemd, paths } = machine
  if (hasSystemd) {
    shutGuestsDownTogether(machine)
    if (!answers(machine) && exec.try('systemctl', ['start', 'libvirtd.service']) !== 0)
      exec.run('systemctl', ['start', 'virtqemud.socket', 'virtlogd.socket'])
  } else if (!answers(machine) || daemons.some((name) => oldKeeperOf(paths, name))) {
    for (const name of daemons) addSupervised(machine, name)
    for (const name of daemons) {
      const told = await tellService(machine, name, 'start')
      if (!told.isDone) throw new Failed(told.words, `Its log: ${journalOf(machine, name)}`)
    }
  }
  if (!(await becomes(20, () => answers(machine))))
    throw new Failed(
      'libvirt does not answer: virsh -c qemu:///system version.',
      `Its log: ${journalOf(machine, 'libvirtd')}`,
    )
  return /^Running hypervisor: (.*)$/m.exec(exec.ask('virsh', VERSION).out)?.[1]
}

/** As packaged, the guests of a machine that goes down are asked one after another, with five minutes for each. */
function shutGuestsDownTogether(machine: Machine) {
  place(
    machine,
    `${machine.paths.settings}/libvirt-guests`,
    0o644,
    "# Written by Berth's install.sh, in place of /etc/default/libvirt-guests.\n" +
      'ON_BOOT=ignore\nON_SHUTDOWN=shutdown\nPARALLEL_SHUTDOWN=1000\nSHUTDOWN_TIMEOUT=120\n',
  )
  setDropIn(machine, 'libvirtGuests', true)
}

// The units of controller and agent as install.sh writes them. No machine is set up: the functions of the script are
// called.
import { describe, expect, test } from 'bun:test'
import { checkout, spawn } from './clean-machine.ts'

const unit = async (name: string) => {
  const set = 'mode=agent gpu= settings=/nonexistent here=/opt docs=/docs listen=127.0.0.1:8080 data_dir=/var/lib/berth'
  const words = `source <(head -n -1 '${checkout}/install.sh'); set +e; ${set}; program=/bin/true; ${name}`
  const { code, out, err } = await spawn(['bash', '-c', words])
  expect([code, err]).toEqual([0, ''])
  return out
}

describe.each(['controller_unit', 'agent_unit'])('%s', (name) => {
  test('is watched, is given the time that its start takes, and is started again without end', async () => {
    const lines = (await unit(name)).split('\n')
    for (const line of [
      ...['Type=notify', 'NotifyAccess=main', 'TimeoutStartSec=infinity', 'WatchdogSec=30', 'WatchdogSignal=SIGKILL'],
      ...['Restart=on-failure', 'RestartSec=2', 'StartLimitIntervalSec=0', 'RestartPreventExitStatus=2'],
    ])
      expect(lines.filter((other) => other === line)).toEqual([line])
  })
  test.skipIf(!Bun.which('systemd-analyze'))('has nothing that systemd complains about', async () => {
    const dir = (await spawn(['mktemp', '-d'])).out.trim()
    await Bun.write(`${dir}/checked.service`, await unit(name))
    const { err } = await spawn(['systemd-analyze', 'verify', '--man=no', `${dir}/checked.service`])
    await spawn(['rm', '-r', dir])
    expect(err.split('\n').filter((line) => line.includes('checked.service'))).toEqual([])
  })
})

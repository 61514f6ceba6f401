// install.sh --gpu: what it says to wrong use, and what the units of a node with cards have beside those of others. No
// machine is set up: the functions of the script are called.
import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { checkout, spawn } from './clean-machine.ts'

const script = `${checkout}/install.sh`
/** The output of a function of the script, for a run with these flags set. */
const unit = async (words: string) => {
  const { code, out, err } = await spawn([
    ...['bash', '-c', `source <(head -n -1 '${script}'); set +e; token_days=30 here=/opt; docs=/docs; ${words}`],
  ])
  expect([code, err]).toEqual([0, ''])
  return out
}
const agent = (flags: string) => unit(`mode=agent settings=/nonexistent ${flags}; agent_unit`)

/** The complaints of systemd about a unit. */
const complaintsOf = async (text: string) => {
  const write = `d=$(mktemp -d); cat >$d/checked.service <<'U'\n${text}\nU\n`
  const words = `${write}systemd-analyze verify $d/checked.service; rm -r $d`
  return (await spawn(['bash', '-c', words])).err
}

describe('install.sh --gpu', () => {
  test('is for nodes', async () => {
    const { code, err } = await spawn([script, '--controller', '--gpu'])
    expect([code, err]).toEqual([2, expect.stringContaining('--gpu is for a node')])
  })
  test('lets the agent see errors of cards, write their list, and nothing else more', async () => {
    const [usual, withCards] = [await agent('gpu='), await agent('gpu=yes')]
    const lines = (text: string) => text.split('\n')
    expect(usual).toContain('ProtectKernelLogs=yes')
    expect(usual).not.toMatch(/\n\n(?!\[|#)|nvidia|cdi/)
    expect(lines(withCards).filter((line) => !lines(usual).includes(line))).toEqual([
      expect.stringMatching(/^After=.* libvirt-guests.service berth-network.service nvidia-persistenced.service$/),
      '# Makes the devices of the cards, if nobody has yet.',
      'ExecStartPre=-+/usr/bin/nvidia-modprobe -c 0 -u',
      'ReadWritePaths=-/etc/cdi',
      '# Cards report their errors in the log of the kernel.',
      'ProtectKernelLogs=no',
      expect.stringMatching(/^CapabilityBoundingSet=.* CAP_SYSLOG$/),
    ])
  })
  test('stays in force without being said again, and is never in a package', async () => {
    const again = 'settings=$(mktemp -d); touch "$settings/gpu"'
    expect(await unit(`${again}; mode=agent gpu=; agent_unit; rm -r "$settings"`)).toContain('ProtectKernelLogs=no')
    expect(await unit(`${again}; mode=deb gpu=; agent_unit; rm -r "$settings"`)).toContain('ProtectKernelLogs=yes')
  })
  test('counts instances among the guests that keep a purge from deleting anything', async () => {
    const id = (kind: string) => `${kind}_${'0'.repeat(26)}`
    const setUp = [
      'agent_state=$(mktemp -d); mkdir "$agent_state/containers"',
      `virsh() { printf '%s\\n' ${id('srv')} other; }`,
      `podman() { [ "$CONTAINERS_CONF" = "$agent_state/containers/containers.conf" ] && echo ${id('gpu')}; }`,
    ].join('; ')
    expect(await unit(`${setUp}; our_guests; rm -r "$agent_state"`)).toBe(`${id('srv')}\n`)
    const settled = 'touch "$agent_state/containers/containers.conf"'
    expect(await unit(`${setUp}; ${settled}; our_guests; rm -r "$agent_state"`)).toBe(`${id('srv')}\n${id('gpu')}\n`)
  })
  test('makes the engine a service that instances outlive', async () => {
    const containers = await unit('mode=agent gpu=yes; containers_unit')
    expect(containers).toContain('ExecStart=/usr/bin/podman system service --time=0 unix:///run/berth/podman.sock\n')
    expect(containers).toContain('KillMode=process\n')
    if (!Bun.which('systemd-analyze') || !existsSync('/usr/bin/podman')) return
    expect(await complaintsOf(containers)).not.toMatch(/Unknown|Invalid|Failed to parse/)
  })
  test('makes the proxy of HTTP names a service that needs no agent and reads its keys by systemd alone', async () => {
    const proxy = await unit('mode=agent gpu=yes; http_proxy_unit')
    for (const line of [
      'User=caddy',
      'LoadCredential=caddy.json:/var/lib/berth-agent/http-names/caddy.json',
      'ExecStart=/usr/bin/caddy run --config %d/caddy.json',
      'Restart=always',
      'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
    ])
      expect(proxy).toContain(`\n${line}\n`)
    if (!Bun.which('systemd-analyze') || !existsSync('/usr/bin/caddy')) return
    expect(await complaintsOf(proxy)).not.toMatch(/Unknown|Invalid|Failed to parse/)
  })
})

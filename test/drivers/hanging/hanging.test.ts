// A node whose storage and libvirt hang for real: programs that never answer, and a libvirtd that was stopped.
import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'

const possible =
  process.env['BERTH_LONG'] === '1' && process.getuid?.() === 0 && !!Bun.which('libvirtd') && !!Bun.which('tini')
if (!possible)
  console.error('left out: a node whose storage and libvirt hang (needs BERTH_LONG=1, root, libvirtd, tini)')

test.skipIf(!possible)(
  'a node whose storage and libvirt hang goes on reporting, starts no program twice, and recovers by itself',
  async () => {
    const dir = temporary('hanging')
    mkdirSync(join(dir, 'stand-ins'))
    const inside = [process.execPath, join(import.meta.dir, 'inside.ts'), dir]
    const own = `mount --make-rprivate / && mount --bind ${dir}/stand-ins /usr/local/sbin && exec "$@"`
    const node = join(import.meta.dir, '../../support/nodes/libvirt-node.sh')
    const spaces = ['unshare', '--mount', '--pid', '--net', '--fork', '--kill-child', '--mount-proc']
    const child = Bun.spawn([...spaces, 'sh', '-c', own, 'sh', node, dir, ...inside], {
      stdio: ['ignore', 'pipe', process.env['SHOW_AGENT'] ? 'inherit' : 'pipe'],
    })
    const out = await new Response(child.stdout).text()
    const last = out.trim().split('\n').at(-1) ?? ''
    if ((await child.exited) !== 0)
      throw new Error(`${out}\n${child.stderr && (await new Response(child.stderr).text())}`)
    const pools = (silent: boolean) => [
      { name: 'local', known: true, silent: false },
      { name: 'nfs', known: true, silent },
      { name: 'tank', known: true, silent },
    ]
    const told = JSON.parse(last)
    expect(told).toMatchObject({
      before: { pools: pools(false), silent: [] },
      hanging: { pools: pools(true), silent: [] },
      programs: { zfs: 1, stat: 1 },
      inventory: { volumes: [], silentPools: ['nfs', 'tank'] },
      command: ['pool_silent', true],
      other: { sizeBytes: null },
      after: { pools: pools(false), silent: [] },
      stopped: { pools: pools(false), silent: ['hypervisor'] },
      inventoryWhileStopped: ['hypervisor'],
      continued: { pools: pools(false), silent: [] },
    })
    expect(told.beatsWhileHanging).toBeGreaterThanOrEqual(2)
    expect(told.beatsWhileStopped).toBeGreaterThanOrEqual(2)
    // Reports, supervision, the events, and two for each look.
    expect(told.virsh).toBeLessThanOrEqual(6)
  },
  300_000,
)

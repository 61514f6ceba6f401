// Runs beside a libvirt of its own (libvirt-node.sh): the agent of a real host, whose zfs, stat and libvirt hang in
// turn. Prints one line of JSON with what a controller heard, and how many programs waited.
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { controller } from '../../agent/controller.ts'
import { volumeOf } from '../../agent/examples.ts'
import { agentProcess, berthAgent } from '../../agent/run.ts'

const [dir = ''] = process.argv.slice(2)
const hangFile = join(dir, 'hang')
const share = join(dir, 'share')
/** In the place of a dead disk: it answers nothing until the file is gone, and then what the real one would. */
const standIn = (answers: string) => `#!/bin/sh
while [ -e ${hangFile} ]; do sleep 0.1; done
${answers}
`
const stands = {
  zfs: standIn(`case $1 in get) printf '1000\\n9000\\n' ;; esac`),
  zpool: standIn('echo ONLINE'),
  stat: standIn('exec /usr/bin/stat "$@"').replace(
    'while [',
    `case "$*" in *${share}*) ;; *) exec /usr/bin/stat "$@" ;; esac\nwhile [`,
  ),
}
for (const [name, text] of Object.entries(stands)) writeFileSync(`/usr/local/sbin/${name}`, text, { mode: 0o755 })
Bun.spawnSync(['ip', 'link', 'set', 'lo', 'up'])

const fakeController = controller()
const dataDir = join(dir, 'agent')
mkdirSync(dataDir, { recursive: true })
const pools = [
  { name: 'local', kind: 'file', path: join(dataDir, 'pools/local') },
  { name: 'nfs', kind: 'file', path: share },
  { name: 'tank', kind: 'zfs', dataset: 'tank/berth' },
]
writeFileSync(join(dataDir, 'pools.json'), JSON.stringify({ pools }))
const how = ['--controller', fakeController.url, '--token-file', '-', '--name', 'n1', '--data-dir', dataDir]
const enrolled = await berthAgent(['enroll', ...how], {}, 'good')
if (enrolled.code !== 0) throw new Error(enrolled.err)
const agent = agentProcess(dataDir, {}, 'inherit')
await fakeController.waitConnected(20_000)

const heartbeat = (fits: (beat: any) => boolean, limitMs = 40_000) => {
  fakeController.frames.length = 0
  return fakeController.frame('heartbeat', fits, limitMs)
}
const inventory = () => {
  fakeController.frames.length = 0
  fakeController.ask({ type: 'report' })
  return fakeController.frame('inventory', undefined, 20_000)
}
const argsOf = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
  } catch {
    return []
  }
}
/** Without the copy of itself that a shell is for a moment before it starts a program. */
const countOf = (fits: (args: string[]) => boolean) =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && fits(argsOf(pid)) && !isCopy(pid)).length
function isCopy(pid: string) {
  try {
    const parent = /\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1] ?? ''
    return argsOf(parent).join() === argsOf(pid).join()
  } catch {
    return true
  }
}
const libvirtd = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && exeOf(pid).endsWith('/libvirtd'))
function exeOf(pid: string) {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return ''
  }
}
/** How many heartbeats come within so many seconds. */
async function beatsIn(seconds: number) {
  fakeController.frames.length = 0
  await Bun.sleep(seconds * 1000)
  return fakeController.frames.filter(({ type }) => type === 'heartbeat').length
}

const brief = (beat: any) => ({
  pools: beat.pools.map(({ name, totalBytes, silentSince }: any) => ({
    name,
    known: totalBytes > 0,
    silent: silentSince !== undefined,
  })),
  silent: (beat.silent ?? []).map(({ part }: any) => part),
})
const told: Record<string, unknown> = {}
const isSilent = (beat: any, name: string) => beat.pools.some((pool: any) => pool.name === name && pool.silentSince)

told['before'] = brief(await heartbeat((beat) => !beat.silent && !isSilent(beat, 'tank')))
writeFileSync(hangFile, '')
told['hanging'] = brief(await heartbeat((beat) => isSilent(beat, 'tank') && isSilent(beat, 'nfs')))
told['beatsWhileHanging'] = await beatsIn(25)
told['programs'] = {
  zfs: countOf((args) => args.some((arg) => arg.startsWith('/usr/local/sbin/z'))),
  stat: countOf((args) => args.includes('/usr/local/sbin/stat')),
}
const { volumes, silentPools } = await inventory()
told['inventory'] = { volumes, silentPools }
const began = Date.now()
const answer = await fakeController.command('job_1/look', 'volume.look', {
  ...volumeOf(1),
  pool: 'tank',
  format: 'raw',
})
told['command'] = [(answer as any).error?.code, Date.now() - began < 1000]
const here = await fakeController.command('job_1/here', 'volume.look', volumeOf(1))
told['other'] = (here as any).output
rmSync(hangFile)
told['after'] = brief(await heartbeat((beat) => !isSilent(beat, 'tank') && !isSilent(beat, 'nfs')))

process.kill(Number(libvirtd), 'SIGSTOP')
told['stopped'] = brief(await heartbeat((beat) => beat.silent?.length === 1))
told['beatsWhileStopped'] = await beatsIn(25)
told['virsh'] = countOf((args) => args[0]?.endsWith('/virsh') ?? false)
told['inventoryWhileStopped'] = (await inventory()).silent
process.kill(Number(libvirtd), 'SIGCONT')
told['continued'] = brief(await heartbeat((beat) => !beat.silent))
await agent.stop()
console.log(JSON.stringify(told))
process.exit(0)

// An agent that is killed while restic and the copy of a disk work for it.
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BackupTarget, LOCAL_MARKER } from '../../../agent/protocol/backup.ts'
import type { CommandName, Input, Output } from '../../../agent/protocol/wire.ts'
import { volumeOf } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { missing, note } from '../tools.ts'

setDefaultTimeout(60_000)
const MiB = 2 ** 20
const reason =
  (process.env['BERTH_LONG'] ? undefined : 'BERTH_LONG=1 is not set') ??
  (await missing('virsh', 'restic', 'nbdcopy', 'qemu-nbd'))

describe.skipIf(note(reason, 'an agent that is killed during a backup'))('an agent that is killed', () => {
  const running: { kill(): void }[] = []
  afterEach(() => {
    for (const one of running.splice(0)) one.kill()
  })

  function agent(dir: string) {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, '../../support/nodes/obey.ts'), dir], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const kill = () => child.kill('SIGKILL')
    running.push({ kill })
    const send = <N extends CommandName>(name: N, input: Input<N>) => {
      child.stdin.write(`${JSON.stringify({ name, input })}\n`)
      child.stdin.flush()
    }
    const reader = child.stdout.getReader()
    const obey = async <N extends CommandName>(name: N, input: Input<N>) => {
      send(name, input)
      const { value } = await reader.read()
      return JSON.parse(new TextDecoder().decode(value)) as { output?: Output<N>; error?: string }
    }
    return { send, obey, kill, ended: child.exited }
  }

  /** Processes of this agent's, by the names of its files on their command lines. */
  const left = (word: string) =>
    readdirSync('/proc').filter((pid) => {
      try {
        return (
          /^\d+$/.test(pid) && /restic|nbd/.test(commandLine(pid).split('\0')[0]!) && commandLine(pid).includes(word)
        )
      } catch {
        return false
      }
    })
  const commandLine = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  const secretsOf = (dir: string) =>
    `/dev/shm/berth-backup-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`

  test('leaves no backup that is not whole, and makes it when it is asked again; so with a restore', async () => {
    const dir = temporary('killed')
    const place = join(dir, 'place')
    mkdirSync(place)
    writeFileSync(join(place, LOCAL_MARKER), '')
    mkdirSync(join(dir, 'pools/local'), { recursive: true })
    const content = Buffer.alloc(48 * MiB)
    for (let at = 0; at < content.length; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536))
    const volume = volumeOf(1, 'raw')
    const pathOf = (generation: number) => join(dir, `pools/local/${volume.workload}-${generation}.raw`)
    writeFileSync(pathOf(0), content)
    const target: BackupTarget = {
      ...{ kind: 'local', address: place, login: '', secret: '', trust: '' },
      ...{ repository: 'usr_1', password: 'password-of-the-account' },
    }
    const make = { backup: `bkp_${'1'.repeat(26)}`, volume, target }
    const stored = () => (existsSync(join(place, 'usr_1/data')) ? filesIn(join(place, 'usr_1/data')) : [])
    try {
      const first = agent(dir)
      first.send('backup.make', { ...make, limitBytesPerSecond: 2 * MiB })
      await eventually(() => left(secretsOf(dir)).length > 1)
      await eventually(() => stored().length > 0)
      expect(stored().length).toBeGreaterThan(0)
      first.kill()
      await first.ended
      await eventually(() => left(secretsOf(dir)).length === 0)
      expect(left(secretsOf(dir))).toEqual([])
      expect(readdirSync(join(place, 'usr_1/snapshots'))).toEqual([])

      const second = agent(dir)
      const { output, error } = await second.obey('backup.make', make)
      expect(error).toBeUndefined()
      expect(output).toMatchObject({ diskBytes: content.length, consistent: true })
      expect(readdirSync(join(place, 'usr_1/snapshots'))).toEqual([output!.snapshot])
      const restore = { snapshot: output!.snapshot, volume: { ...volume, generation: 1 }, sizeBytes: 64 * MiB, target }
      second.send('backup.restore', restore)
      await eventually(() => existsSync(`${pathOf(1)}.part`))
      expect(existsSync(`${pathOf(1)}.part`)).toBe(true)
      second.kill()
      await second.ended

      const third = agent(dir)
      for (let i = 0; i < 2; i++) expect(await third.obey('backup.restore', restore)).toEqual({ output: {} })
      expect(left(secretsOf(dir))).toEqual([])
      const restored = readFileSync(pathOf(1))
      expect([restored.length, existsSync(`${pathOf(1)}.part`)]).toEqual([64 * MiB, false])
      expect(restored.subarray(0, content.length).equals(content)).toBe(true)
      expect(await third.obey('backup.check', { target, part: 1, of: 1 })).toEqual({
        output: { finding: 'works', detail: '' },
      })
    } finally {
      rmSync(secretsOf(dir), { recursive: true, force: true })
    }
  })
})

const filesIn = (dir: string) =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())

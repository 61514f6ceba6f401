// A purge deletes all that it can, says what is left, and goes on with that when it is run again.
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { type Ended, Exec } from '../../host/machine/exec.ts'
import type { Machine } from '../../host/machine/machine.ts'
import { Failed } from '../../host/machine/report.ts'
import { purgeAll } from '../../host/purge.ts'
import { machineWith } from './stand-in.ts'

/** `answers` of programs, but for those that look at files and delete them. `stuck`: files that nobody can delete. */
function installedMachine(answers: Record<string, string> = {}, stuck: string[] = []) {
  const base = machineWith()
  const dir = base.paths.settings.replace(/\/settings$/, '')
  const paths = {
    ...base.paths,
    ...{ library: `${dir}/lib`, logs: `${dir}/logs`, run: `${dir}/run`, units: `${dir}/units` },
    agentState: `${dir}/state`,
  }
  const data = `${dir}/data`
  const other = `${dir}/other`
  for (const path of [paths.library, paths.logs, paths.run, paths.agentState, data, `${data}/deep/er`, other])
    mkdirSync(path, { recursive: true })
  for (const path of [`${paths.library}/berth-host`, `${data}/berth.db`, `${data}/deep/er/x`, `${paths.agentState}/y`])
    writeFileSync(path, '')
  const ran: string[] = []
  class StandIn extends Exec {
    override try(program: Parameters<Exec['try']>[0], args: readonly string[]): number {
      ran.push([program, ...args].join(' '))
      if (program === 'find') for (const file of stuck) if (file.startsWith(args[0]!)) return 1
      return program === 'find' ? super.try(program, args) : 0
    }
    override run(program: Parameters<Exec['run']>[0], args: readonly string[]) {
      ran.push([program, ...args].join(' '))
    }
    override ask(program: Parameters<Exec['ask']>[0], args: readonly string[]): Ended {
      if (program === 'find') return super.ask(program, args)
      const line = [program, ...args].join(' ')
      const found = Object.keys(answers).find((start) => line.startsWith(start))
      return { code: found === undefined ? 1 : 0, out: found === undefined ? '' : answers[found]!, err: '' }
    }
  }
  const machine: Machine = { ...base, paths, hasSystemd: false, exec: new StandIn(`${dir}/log`) }
  return { machine, dir, data, other, ran, purge: () => purgeAll(machine, data, [other]) }
}

test('deletes data, settings, program and what else Berth made, and says what stays', async () => {
  const answers = {
    'nft list tables': 'table inet berth_fw\ntable ip mine\n',
    'dpkg-query': 'ii  qemu-utils\nun  caddy\nii  restic\n',
  }
  const { purge, dir, ran, machine } = installedMachine(answers)
  writeFileSync(`${machine.paths.settings}/network.env`, '')
  expect((await purge()).stays).toEqual([
    'packages, which apt removes if nothing else needs them: qemu-utils restic',
    'IP forwarding of the kernel is on until the next boot',
  ])
  expect(readdirSync(dir)).toEqual(['log'])
  expect(ran.filter((line) => line.startsWith('nft'))).toEqual(['nft delete table inet berth_fw'])
})

test('that cannot delete something goes on with the rest, keeps its program, and ends at the second run', async () => {
  const stuck: string[] = []
  const { purge, data, other, machine } = installedMachine({}, stuck)
  stuck.push(`${data}/berth.db`)
  const failed = await purge().catch((error) => error)
  expect(failed).toBeInstanceOf(Failed)
  expect(failed.problem).toContain(`- ${data}: `)
  expect([existsSync(other), existsSync(machine.paths.agentState)]).toEqual([false, false])
  expect(existsSync(`${machine.paths.library}/berth-host`)).toBe(true)
  expect(existsSync(machine.paths.settings)).toBe(true)
  stuck.length = 0
  await purge()
  expect([existsSync(data), existsSync(machine.paths.library), existsSync(machine.paths.settings)]).toEqual([
    ...[false, false, false],
  ])
})

test('that has nothing left to do does nothing, and says so', async () => {
  const { purge } = installedMachine()
  await purge()
  expect(await purge()).toEqual({ stays: [], hasSites: false })
})

test('whose user still runs something says so', async () => {
  const { purge, machine } = installedMachine({ 'getent passwd berth': 'berth:x:999:999::/:/bin/false' })
  const failed = await purge().catch((error) => error)
  expect(failed.problem).toBe('This is left:\n- the user berth: a process of it still runs')
  expect(existsSync(machine.paths.library)).toBe(true)
})

test.skipIf(process.getuid?.() !== 0)('touches nothing of a file system that is mounted below its data', async () => {
  const { purge, data } = installedMachine()
  const disk = `${data}/deep/er`
  if (Bun.spawnSync(['mount', '-t', 'tmpfs', 'tmpfs', disk]).exitCode !== 0) throw new Error('no mount')
  try {
    writeFileSync(`${disk}/theirs`, 'x')
    expect((await purge()).stays).toEqual([`${disk}, a file system of its own`])
    expect(readdirSync(disk)).toEqual(['theirs'])
    expect(readdirSync(data)).toEqual(['deep'])
  } finally {
    Bun.spawnSync(['umount', disk])
  }
})

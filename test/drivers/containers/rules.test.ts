import { describe, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endOf, type Known } from '../../../agent/drivers/container/ends.ts'
import { IDS_EACH, mustBeAlone, uidBase } from '../../../agent/drivers/container/ids.ts'
import { Engine } from '../../../agent/drivers/container/podman/engine.ts'
import { readLog } from '../../../agent/drivers/container/podman/logs.ts'
import { type Info, isOlder, MINIMUM, problemsOf } from '../../../agent/drivers/container/podman/requirements.ts'
import { profileFrom } from '../../../agent/drivers/container/podman/seccomp.ts'
import { specOf } from '../../../agent/drivers/container/podman/spec.ts'
import { find } from '../../../agent/host/exec.ts'
import { containerOf } from '../../agent/instances/examples.ts'
import { givenWithout } from './podman-rig.ts'

describe('the user ids of an instance', () => {
  test('are those of no user of the host and of no other instance, and are ids', () => {
    expect(uidBase(1)).toBe(uidBase(2) - IDS_EACH)
    for (const number of [1, 59_999, 60_000, 2 ** 31 - 1]) {
      expect(uidBase(number)).toBeGreaterThanOrEqual(2 ** 20)
      expect(uidBase(number) + IDS_EACH).toBeLessThan(2 ** 32 - 1)
    }
    const instance = (number: number) => ({ workload: `gpu_${number}`, number })
    expect(() => mustBeAlone(instance(5), [instance(60_005)])).toThrow('user ids')
    mustBeAlone(instance(5), [instance(5), instance(6)])
  })
})

describe('a host', () => {
  const good: Info = {
    host: {
      cgroupVersion: 'v2',
      networkBackend: 'netavark',
      ociRuntime: { name: 'crun', version: 'crun version 1.21\ncommit: x' },
    },
    store: { graphDriverName: 'overlay' },
    version: { Version: '5.4.2' },
  }
  const everything = () => true
  test('that has what it needs has no problems', () => {
    expect(problemsOf(good, MINIMUM, everything)).toEqual([])
  })
  test.each<[string, Info]>([
    ['Podman 4.3.1', { ...good, version: { Version: '4.3.1' } }],
    ['crun 1.8.1', { ...good, host: { ...good.host, ociRuntime: { name: 'crun', version: 'crun version 1.8.1' } } }],
    ['runc', { ...good, host: { ...good.host, ociRuntime: { name: 'runc', version: 'runc version 1.1.5' } } }],
    ['control groups v1', { ...good, host: { ...good.host, cgroupVersion: 'v1' } }],
    ['cni', { ...good, host: { ...good.host, networkBackend: 'cni' } }],
    ['vfs', { ...good, store: { graphDriverName: 'vfs' } }],
    ['root', { ...good, host: { ...good.host, security: { rootless: true } } }],
  ])('with %s is told what to change', (words, info) => {
    const problems = problemsOf(info, MINIMUM, everything)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(words)
  })
  test('without catatonit and system call profile is told so', () => {
    expect(problemsOf(good, MINIMUM, () => false)).toHaveLength(2)
  })
  test('compares versions by their numbers', () => {
    expect(isOlder('5.4.2', '5.4.0')).toBe(false)
    expect(isOlder('5.10', '5.9.1')).toBe(false)
    expect(isOlder('4.9.9', '5.4')).toBe(true)
    expect(isOlder('1.21', '1.21.0')).toBe(false)
  })
})

describe('the end of a container', () => {
  const known: Known = { exitCode: 1, oomKills: 0, justKilled: false, memoryMb: 512, filledBytes: 0, troubles: [] }
  test.each<[Partial<Known>, boolean, string]>([
    [{}, false, 'Its command ended with exit code 1.'],
    [{ exitCode: 0 }, false, 'Its command ended.'],
    [{ exitCode: 139 }, false, 'Its command was ended by the signal SIGSEGV.'],
    [{ exitCode: 127 }, false, 'Its command was not found.'],
    [{ exitCode: null }, false, 'Its process is gone, and the container engine does not know why.'],
    [
      { exitCode: 137, oomKills: 1, justKilled: true },
      true,
      'Its memory (512 MiB) was full, and the kernel killed its command.',
    ],
    [
      { exitCode: 1, oomKills: 2, justKilled: true },
      false,
      'Its command ended with exit code 1. ' +
        'Before, its memory (512 MiB) was full, and the kernel killed 2 of its processes.',
    ],
    [{ troubles: ['Card 1 fell off the bus.'] }, false, 'Its command ended with exit code 1. Card 1 fell off the bus.'],
  ])('%j', (more, oomKilled, detail) => {
    expect(endOf({ ...known, ...more })).toMatchObject({ oomKilled, detail })
  })
})

describe('a log file', () => {
  const at = '2026-11-28T00:27:10.158659822+00:00'
  const file = (dir: string, text: string) => {
    const path = join(dir, 'ctr.log')
    writeFileSync(path, text)
    return path
  }
  const records = (...lines: string[]) => lines.map((line) => `${at} ${line}\n`).join('')
  const withDir = (look: (dir: string) => void) => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-log-'))
    try {
      look(dir)
    } finally {
      rmSync(dir, { recursive: true })
    }
  }

  test('is its lines in their order, those that were written in parts joined', () =>
    withDir((dir) => {
      const path = file(dir, records('stdout F one', 'stdout P zw', 'stderr F two', 'stdout F ölf', 'stdout F '))
      expect(readLog(path, 100)).toMatchObject({ text: 'one\ntwo\nzwölf\n\n', skipped: false })
      expect(readLog(path, 1)).toMatchObject({ text: '\n', skipped: false })
    }))
  test('goes on from a cursor with each line once, also where the last one was still being written', () =>
    withDir((dir) => {
      const path = file(dir, `${records('stdout F one')}${at} stdout F tw`)
      const first = readLog(path, 100)
      expect(first.text).toBe('one\n')
      appendFileSync(path, `o\n${records('stdout F three')}`)
      const second = readLog(path, 100, first.cursor)
      expect(second).toMatchObject({ text: 'two\nthree\n', skipped: false })
      expect(readLog(path, 100, second.cursor)).toEqual({ text: '', cursor: second.cursor, skipped: false })
    }))
  test('says when more came than was asked for', () =>
    withDir((dir) => {
      const path = file(dir, records('stdout F one'))
      const { cursor } = readLog(path, 1)
      appendFileSync(path, records('stdout F two', 'stdout F three'))
      expect(readLog(path, 1, cursor)).toMatchObject({ text: 'three\n', skipped: true })
    }))
  test('that was begun anew is read from its beginning', () =>
    withDir((dir) => {
      const path = file(dir, records('stdout F one'))
      const { cursor } = readLog(path, 100)
      renameSync(path, join(dir, 'old.log'))
      file(dir, records('stdout F two', 'stdout F three'))
      expect(readLog(path, 100, cursor).text).toBe('two\nthree\n')
    }))
  test('of many megabytes is read from whole lines near its end', () =>
    withDir((dir) => {
      const path = file(
        dir,
        records(...Array.from({ length: 40_000 }, (_, n) => `stdout F line ${n} ${'x'.repeat(60)}`)),
      )
      const lines = readLog(path, 1e6).text.split('\n').slice(0, -1)
      expect(lines.every((line) => /^line \d+ x{60}$/.test(line))).toBe(true)
      expect(lines.at(-1)).toStartWith('line 39999 ')
      expect(lines.length).toBeLessThan(40_000)
    }))
  test('that is not there yet is empty, and all of it comes later', () =>
    withDir((dir) => {
      const none = readLog(join(dir, 'ctr.log'), 100)
      expect(none.text).toBe('')
      expect(readLog(file(dir, records('stdout F one')), 100, none.cursor).text).toBe('one\n')
    }))
})

test('the system calls of instances are those of the host without namespaces, mounts and keys', () => {
  const allow = { action: 'SCMP_ACT_ALLOW' }
  const { syscalls } = profileFrom({
    syscalls: [
      { names: ['read', 'mount', 'unshare'], ...allow },
      { names: ['clone3', 'bpf'], ...allow },
    ],
  })
  expect(syscalls.flatMap(({ names }) => names)).toEqual(['read', 'clone', 'unshare', 'clone3'])
  expect(syscalls.filter(({ args }) => args).map(({ args }) => args![0]!.op)).toEqual([
    'SCMP_CMP_MASKED_EQ',
    'SCMP_CMP_MASKED_EQ',
  ])
  expect(syscalls.at(-1)).toMatchObject({ action: 'SCMP_ACT_ERRNO', errnoRet: 38 })
})

describe('the container that Podman is told to make', () => {
  const given = givenWithout(7, '/workspaces/7')
  const with_ = {
    image: 'sha256:1',
    config: { Entrypoint: ['/start'], Cmd: ['serve'], User: 'app' },
    parent: '/p',
    seccomp: '/s',
  }
  test('has few rights, user ids of its own, and limits', () => {
    const spec = specOf(containerOf(7, { vcpus: 3, memoryMb: 1024 }), given, with_)
    expect(spec.cap_drop).toEqual(['ALL'])
    for (const right of ['SYS_ADMIN', 'MKNOD', 'NET_RAW', 'NET_ADMIN', 'SYS_PTRACE'])
      expect(spec.cap_add).not.toContain(`CAP_${right}`)
    expect(spec.no_new_privileges).toBe(true)
    expect(spec.idmappings.UIDMap).toEqual([{ container_id: 0, host_id: uidBase(7), size: IDS_EACH }])
    expect(spec.resource_limits).toMatchObject({
      cpu: { quota: 300_000, period: 100_000 },
      memory: { limit: 2 ** 30, swap: 2 ** 30 },
      pids: { limit: 8192 },
    })
    expect(spec.restart_policy).toBe('no')
  })
  test('runs the image’s program as its user, behind the wrapper that starts SSH', () => {
    expect(specOf(containerOf(7), given, with_)).toMatchObject({ entrypoint: ['/start', 'serve'], command: [] })
    const wrapped = specOf(containerOf(7, { command: ['other'] }), { ...given, wrapper: ['/.berth/start'] }, with_)
    expect(wrapped).toMatchObject({ user: '0:0', entrypoint: ['/.berth/start', 'app', '/start', 'other'] })
  })
})

test('an agent that systemd confines starts no Podman of its own, and says which service is missing', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-engine-'))
  const [own, runDir, serviceSocket] = [join(dir, 'own'), join(dir, 'run'), join(dir, 'none.sock')]
  const engine = new Engine({ dir: own, runDir, serviceSocket, minimum: MINIMUM, isConfined: () => true })
  await expect(engine.api()).rejects.toMatchObject({ code: 'container_engine_silent' })
  const about = await engine.about()
  if (find('podman')) expect(about!.problems).toEqual([expect.stringContaining('berth-containers')])
  // Settings alone, which the service needs.
  expect(readdirSync(own).toSorted()).toEqual(['containers.conf', 'registries.conf', 'seccomp.json', 'storage.conf'])
  expect(readdirSync(runDir)).toEqual([])
  rmSync(dir, { recursive: true })
})

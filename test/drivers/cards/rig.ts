// The two drivers of cards under one contract: NVIDIA's, over a report, a kernel's log and libraries that stand in for
// those of a real driver, and the fake one.
import { Database } from 'bun:sqlite'
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type CardFault, FakeGpus } from '../../../agent/drivers/gpu/fake.ts'
import type { Gpus } from '../../../agent/drivers/gpu/gpus.ts'
import { NvidiaGpus, type NvidiaHost } from '../../../agent/drivers/gpu/nvidia.ts'
import { generated } from './generated.ts'
import { H100, OTHER_UUID, type ReportedCard, report, UUID } from './report.ts'

/** The card's memory, small enough that all of it is looked at. */
export const MEMORY_MB = 96
const SECRET = 'what the customer before left here'

export type Rig = {
  gpus: Gpus
  set(fault: CardFault): void
  /** Fills the card's memory as a customer does. */
  write(): void
  /** Whether the customer's data is in the card's memory. */
  hasData(): boolean
  /** Whether there is nothing at all in it. */
  isClear(): boolean
  remove(): void
}

export function fakeRig(): Rig {
  const dir = mkdtempSync(join(tmpdir(), 'berth-cards-'))
  const db = new Database(':memory:')
  const cards = [
    { uuid: UUID, model: H100, memoryMb: MEMORY_MB, bus: '0000:3b:00.0' },
    { uuid: OTHER_UUID, model: 'NVIDIA L4', memoryMb: 23_034, bus: '0000:5e:00.0' },
  ]
  const gpus = new FakeGpus(db, dir, cards, () => 5000)
  return {
    gpus,
    set: (fault) => writeFileSync(join(dir, 'cards.json'), JSON.stringify({ [UUID]: fault })),
    write: () => gpus.write(UUID, SECRET),
    hasData: () => gpus.memory(UUID) === SECRET,
    isClear: () => gpus.memory(UUID) === '',
    remove: () => rmSync(dir, { recursive: true }),
  }
}

/** The library that stands in for NVIDIA's, compiled once; undefined where there is no compiler. */
export function stubLibrary(): string | undefined {
  if (!Bun.which('gcc')) return undefined
  const library = join(mkdtempSync(join(tmpdir(), 'berth-stub-')), 'stub.so')
  compileStub(library)
  return library
}

/** Compiles it to this file, whose name the linker of a host knows it by. */
export function compileStub(library: string) {
  const source = join(import.meta.dir, 'stub-libraries.c')
  const name = `-Wl,-soname,${basename(library)}`
  const how = ['-shared', '-fPIC', '-O2', name, '-o', library, source, '-ldl']
  const { exitCode, stderr } = Bun.spawnSync(['gcc', ...how])
  if (exitCode !== 0) throw new Error(stderr.toString())
}

export type NvidiaRig = Rig & {
  gpus: NvidiaGpus
  dir: string
  cdiDir: string
  /** The cards of the report; tests change them. */
  cards: ReportedCard[]
  /** Words and numbers for the stub (stub-libraries.c). */
  card(settings: Record<string, number>): void
  /** Adds a line to the kernel's log. */
  log(text: string): void
  /** Arguments with which nvidia-smi and nvidia-ctk were run. */
  runs: string[]
  /** Called before each answer of nvidia-smi. */
  before: (args: string[]) => Promise<void> | void
}

export function nvidiaRig(library: string, more: Partial<NvidiaHost> = {}): NvidiaRig {
  const dir = mkdtempSync(join(tmpdir(), 'berth-cards-'))
  const own = join(dir, 'libnvidia.so.1')
  copyFileSync(library, own)
  const [memory, kernelLog, driverDir] = [join(dir, 'memory'), join(dir, 'kmsg'), join(dir, 'driver')]
  writeFileSync(memory, Buffer.alloc(MEMORY_MB << 20))
  writeFileSync(kernelLog, '')
  mkdirSync(join(driverDir, 'gpus', '0000:3b:00.0'), { recursive: true })
  mkdirSync(join(driverDir, 'gpus', '0000:5e:00.0'))
  writeFileSync(
    join(driverDir, 'version'),
    'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release\n',
  )
  const other = { uuid: OTHER_UUID, bus: '00000000:5E:00.0', model: 'NVIDIA L4', memoryMb: 23_034, mig: 'N/A' as const }
  let number = 0
  const rig: NvidiaRig = {
    dir,
    cdiDir: join(dir, 'cdi'),
    cards: [{ uuid: UUID, memoryMb: MEMORY_MB }, other],
    runs: [],
    before: () => {},
    gpus: new NvidiaGpus({
      ...{
        dataDir: dir,
        bootId: 'boot-1',
        cdiDir: join(dir, 'cdi'),
        kernelLog,
        driverDir,
        nvml: own,
        cuda: own,
        settleMs: 20,
      },
      smi: async (args) => {
        rig.runs.push(args.join(' '))
        await rig.before(args)
        if (args[0] === 'nvlink') return `GPU 0: NVIDIA H100 (UUID: ${UUID})\n\t Link 0: 26.562 GB/s\n`
        const asked = rig.cards.filter(
          (card) => !args[3] || (card.bus ?? '3B:00.0').toLowerCase().endsWith(args[3].slice(5)),
        )
        return report(...asked)
      },
      ctk: async (args) => {
        rig.runs.push(args.join(' '))
        return JSON.stringify(generated)
      },
      ...more,
    }),
    card: (settings) =>
      writeFileSync(
        join(dir, 'card'),
        Object.entries(settings)
          .map(([word, n]) => `${word} ${n}\n`)
          .join(''),
      ),
    log: (text) => appendFileSync(kernelLog, `4,${++number},${number * 1e6},-;${text}\n`),
    set: ({ gone, xid, hot, uncorrected, pendingRemap, mig, stuck, busy }) => {
      if (hot) throw new Error('the temperature is in the report')
      rig.cards = [
        ...(gone
          ? []
          : [
              {
                uuid: UUID,
                memoryMb: MEMORY_MB,
                ...(uncorrected && { uncorrected }),
                ...(pendingRemap && { pending: 'Yes' as const }),
                ...(mig && { mig: 'Enabled' as const }),
                ...(busy && { processes: [{ pid: 4711, name: '/usr/bin/python3' }] }),
              },
            ]),
        other,
      ]
      if (gone) rmSync(join(driverDir, 'gpus', '0000:3b:00.0'), { recursive: true })
      if (xid) rig.log(`NVRM: Xid (PCI:0000:3b:00): ${xid}, pid=1`)
      rig.card(stuck ? { stuck: 0 } : {})
    },
    write: () => writeFileSync(memory, Buffer.alloc(MEMORY_MB << 20, SECRET)),
    hasData: () => readFileSync(memory).includes(SECRET),
    isClear: () => readFileSync(memory).equals(Buffer.alloc(MEMORY_MB << 20)),
    remove: () => {
      rig.gpus.close()
      rmSync(dir, { recursive: true })
    },
  }
  return rig
}

// The files by which root of this machine and the controller speak of updates. Root writes the journal of an update
// and the history; the controller writes a request, which root checks by itself.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { type Static, Type as t } from 'typebox'
import { Compile } from 'typebox/compile'

export const openStates = ['switching', 'trying', 'going_back'] as const
export type OpenState = (typeof openStates)[number]

const reason = t.Optional(t.Object({ code: t.String(), words: t.String() }))
const readJournal = Compile(
  t.Object({
    from: t.String(),
    to: t.String(),
    by: t.String(),
    startedAt: t.String({ format: 'date-time' }),
    state: t.Enum([...openStates, 'done', 'went_back']),
    reason,
  }),
)
const Ended = t.Object({
  from: t.String(),
  to: t.String(),
  by: t.String(),
  startedAt: t.String({ format: 'date-time' }),
  endedAt: t.String({ format: 'date-time' }),
  stoppedMs: t.Integer({ minimum: 0 }),
  result: t.Enum(['done', 'went_back', 'refused']),
  reason,
})
/** An update that has ended. `refused`: root did not begin what the controller asked for. */
export type Ended = Static<typeof Ended>
const readEnded = Compile(Ended)

export type Request = { format: 1; file: string; by: string; at: string }

/** Where things are. `folder`: of root, for the updates of the controller. */
export type MachineFiles = { folder: string; hostProgram: string; program: string }
export const thisMachine: MachineFiles = {
  folder: '/usr/local/lib/berth/upgrade/berth',
  hostProgram: '/usr/local/lib/berth/berth-host',
  program: process.execPath,
}
const PACKAGED_PROGRAM = '/usr/bin/berth'

/** The end of the history that is read: some hundreds of lines. */
const HISTORY_BYTES = 128 << 10

export class UpdateMachine {
  private readonly request: string

  constructor(
    private readonly dataDir: string,
    private readonly files: MachineFiles,
  ) {
    this.request = `${dataDir}/upgrade/request.json`
  }

  /** Why nothing on this machine carries out requests; undefined: something does. */
  disabledReason(): string | undefined {
    if (this.files.program === PACKAGED_PROGRAM) return 'This program came with a Debian package. Update it with apt.'
    if (existsSync(this.files.hostProgram)) return undefined
    return 'Berth was not installed by install.sh here, so nothing takes the request. Install the new version by hand.'
  }

  /** The folder below which root stores programs and copies, or the nearest one above it. */
  get storage(): string {
    let path = this.files.folder
    while (path !== '/' && !existsSync(path)) path = path.slice(0, path.lastIndexOf('/')) || '/'
    return path
  }

  /** The update that is under way. */
  current(): { state: OpenState; from: string; to: string; by: string; startedAt: string } | undefined {
    const journal = parsed(textOf(`${this.files.folder}/journal.json`))
    if (!readJournal.Check(journal)) return undefined
    const { state, from, to, by, startedAt } = journal
    return state === 'done' || state === 'went_back' ? undefined : { state, from, to, by, startedAt }
  }

  /** Updates that have ended, the newest first. A line that was cut short is left out. */
  history(): Ended[] {
    const lines = textOf(`${this.files.folder}/history.jsonl`).split('\n').map(parsed)
    return lines.filter((line): line is Ended => readEnded.Check(line)).reverse()
  }

  /** Since when a request waits for root; undefined: none does. */
  requestedAt(): number | undefined {
    return statSync(this.request, { throwIfNoEntry: false })?.mtimeMs
  }

  /** Root takes the request whole or not at all. */
  ask(request: Request) {
    mkdirSync(`${this.dataDir}/upgrade`, { recursive: true, mode: 0o750 })
    const part = `${this.request}.part`
    rmSync(part, { force: true })
    const file = openSync(part, 'wx', 0o640)
    try {
      writeSync(file, `${JSON.stringify(request)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(part, this.request)
  }

  withdraw() {
    rmSync(this.request, { force: true })
  }
}

/** The end of a file of root's; '' where there is none. */
function textOf(path: string): string {
  try {
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      if (size <= HISTORY_BYTES) return readFileSync(file, 'utf8')
      const end = Buffer.alloc(HISTORY_BYTES)
      return end.toString('utf8', 0, readSync(file, end, 0, HISTORY_BYTES, size - HISTORY_BYTES))
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

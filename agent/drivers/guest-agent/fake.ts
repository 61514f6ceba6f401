// Guest agents without guests. What a guest was told is in tables, so that tests can read it and a kill of the agent
// does not lose it.
import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type { Vm } from '../../protocol/wire.ts'
import type { Hypervisor } from '../hypervisor/hypervisor.ts'
import {
  type GuestAgent,
  type GuestFileSystem,
  type GuestInfo,
  type GuestInterface,
  type GuestPassword,
  type GuestRun,
  MOST_GUEST_BYTES,
} from './guest-agent.ts'
import { READDRESS } from './readdress/linux-script.ts'

const SCHEMA = `
  create table if not exists guest_modes (workload text primary key, mode text not null) strict;
  create table if not exists guest_users (workload text not null, user text not null, password text not null,
    primary key (workload, user)) strict;
  create table if not exists guest_files (workload text not null, path text not null, content blob not null,
    primary key (workload, path)) strict;
  create table if not exists guest_programs (workload text not null, argv text not null, stdin text) strict;
  create table if not exists guest_answers (workload text not null, program text not null, code integer not null,
    output text not null, primary key (workload, program)) strict;
  create table if not exists guest_cards (workload text primary key, addresses text not null) strict`

export type FakeGuestMode = 'well' | 'silent' | 'broken' | 'frozen'

/** The answers of a guest that a test has not described. */
const system: GuestInfo = {
  agentVersion: '7.2.0',
  hostname: 'fake',
  osId: 'fake',
  osName: 'Fake Linux',
  osVersion: '1',
  kernel: '6.1.0-fake',
  machine: 'x86_64',
}

/** As a program, to describe the file systems of a guest, as JSON. */
export const FILE_SYSTEMS = 'file-systems'
const GIB = 2 ** 30

/** As a program, to describe the system of a guest by its `osId`. */
export const OS_ID = 'os-id'

/** Answers for every vm of the hypervisor whose guest is up. Its users are `root` and `Administrator`. */
export class FakeGuestAgent implements GuestAgent {
  constructor(
    private db: Database,
    private hypervisor: Pick<Hypervisor, 'guestAnswers'>,
  ) {
    db.run(SCHEMA)
  }

  /** From now on the guest's agent behaves like this. */
  behave(workload: string, mode: FakeGuestMode) {
    this.db.run('insert or replace into guest_modes values (?, ?)', [workload, mode])
  }
  /** From now on this program (`argv[0]`) ends like this in the guest; another one ends with 0 and no output. */
  answer(workload: string, program: string, { code, output }: { code: number; output: string }) {
    this.db.run('insert or replace into guest_answers values (?, ?, ?, ?)', [workload, program, code, output])
  }
  /** The password as it was set: in the clear or its hash. */
  password(workload: string, user = 'root'): string | undefined {
    return this.db
      .query<{ password: string }, [string, string]>('select password from guest_users where workload = ? and user = ?')
      .get(workload, user)?.password
  }
  /** The programs that were run to change something, in order. */
  programs(workload: string): { argv: string[]; stdin: string | null }[] {
    return this.db
      .query<{ argv: string; stdin: string | null }, [string]>(
        `select argv, stdin from guest_programs where workload = ? and argv not like '["/usr/sbin/sshd",%'
         order by rowid`,
      )
      .all(workload)
      .map(({ argv, stdin }) => ({ argv: JSON.parse(argv) as string[], stdin }))
  }

  async ping(workload: string) {
    return (await this.mode(workload)) === 'well' || (await this.mode(workload)) === 'frozen'
  }

  async freeze(workload: string) {
    await this.mustAnswer(workload)
    this.behave(workload, 'frozen')
  }

  async thaw(workload: string) {
    const mode = await this.mode(workload)
    if (mode === 'silent' || mode === 'broken') await this.mustAnswer(workload)
    if (mode !== 'frozen') return 0
    this.behave(workload, 'well')
    return 1
  }

  async setPassword(workload: string, user: string, password: GuestPassword) {
    await this.mustAnswer(workload)
    if (user !== 'root' && user !== 'Administrator')
      throw new Failure('guest_refused', `the guest of ${workload} has no user ${user}`)
    this.db.run('insert or replace into guest_users values (?, ?, ?)', [
      workload,
      user,
      'hash' in password ? password.hash : password.text,
    ])
  }

  async info(workload: string): Promise<GuestInfo> {
    await this.mustAnswer(workload)
    const osId = this.told(workload, OS_ID)?.output ?? system.osId
    return { ...system, osId, hostname: this.vm(workload)?.hostname.split('.')[0] ?? system.hostname }
  }

  async interfaces(workload: string): Promise<GuestInterface[]> {
    await this.mustAnswer(workload)
    const { mac } = this.vm(workload)!.network
    return [
      { name: 'lo', mac: '00:00:00:00:00:00', addresses: ['127.0.0.1/8', '::1/128'] },
      { name: 'eth0', mac, addresses: this.addresses(workload) },
    ]
  }

  async fileSystems(workload: string): Promise<GuestFileSystem[]> {
    await this.mustAnswer(workload)
    const told = this.told(workload, FILE_SYSTEMS)
    if (told) return JSON.parse(told.output) as GuestFileSystem[]
    return [{ path: '/', device: 'vda1', kind: 'ext4', usedBytes: 6 * GIB, totalBytes: 19 * GIB }]
  }

  /** Those that its system was told for good. */
  addresses(workload: string): string[] {
    const row = this.db
      .query<{ addresses: string }, [string]>('select addresses from guest_cards where workload = ?')
      .get(workload)
    return row ? (JSON.parse(row.addresses) as string[]) : []
  }
  private hasFrom(workload: string, addresses: readonly string[]) {
    this.db.run('insert or replace into guest_cards values (?, ?)', [workload, JSON.stringify(addresses)])
  }

  private vm(workload: string): Vm | undefined {
    const row = this.db
      .query<{ definition: string }, [string]>('select definition from vms where workload = ?')
      .get(workload)
    return row ? (JSON.parse(row.definition) as Vm) : undefined
  }

  async exec(workload: string, argv: readonly string[], { stdin }: { stdin?: string } = {}): Promise<GuestRun> {
    await this.mustAnswer(workload)
    this.db.run('insert into guest_programs values (?, ?, ?)', [workload, JSON.stringify(argv), stdin ?? null])
    const told = this.told(workload, argv[0] ?? '')
    const isReaddressed = stdin === READDRESS && !told
    if (isReaddressed) this.hasFrom(workload, argv[5]!.split(' '))
    const { code, output } = told ?? { code: 0, output: isReaddressed ? 'by=networkd\n' : '' }
    const bytes = Buffer.from(output)
    const truncated = bytes.length > MOST_GUEST_BYTES
    return { code, output: truncated ? bytes.subarray(0, MOST_GUEST_BYTES).toString() : output, truncated }
  }

  /** It fails where the test has described an answer with another code than 0. */
  async powershell(workload: string, script: string) {
    const { code } = await this.exec(workload, ['powershell', script])
    if (code !== 0) throw new Failure('guest_refused', `the script in the guest of ${workload} ended with ${code}`)
    const given = [...script.matchAll(/New-NetIPAddress .*-IPAddress '([^']+)' -PrefixLength (\d+)/g)]
    if (script.includes('$leave ='))
      this.hasFrom(
        workload,
        given.map(([, address, length]) => `${address}/${length}`),
      )
  }

  async writeFile(workload: string, path: string, content: Uint8Array) {
    await this.mustAnswer(workload)
    this.db.run('insert or replace into guest_files values (?, ?, ?)', [workload, path, content])
  }

  async readFile(workload: string, path: string) {
    await this.mustAnswer(workload)
    const file = this.db
      .query<{ content: Uint8Array }, [string, string]>(
        'select content from guest_files where workload = ? and path = ?',
      )
      .get(workload, path)
    if (!file) throw new Failure('guest_refused', `the guest of ${workload} has no file ${path}`)
    return file.content.subarray(0, MOST_GUEST_BYTES)
  }

  private told(workload: string, program: string) {
    return this.db
      .query<{ code: number; output: string }, [string, string]>(
        'select code, output from guest_answers where workload = ? and program = ?',
      )
      .get(workload, program)
  }

  private async mode(workload: string): Promise<FakeGuestMode> {
    if (!(await this.hypervisor.guestAnswers(workload))) return 'silent'
    const found = this.db
      .query<{ mode: FakeGuestMode }, [string]>('select mode from guest_modes where workload = ?')
      .get(workload)
    return found?.mode ?? 'well'
  }

  private async mustAnswer(workload: string) {
    const mode = await this.mode(workload)
    if (mode === 'silent') throw new Failure('guest_agent_silent', `no guest agent answers in ${workload} within 5 s`)
    if (mode === 'broken') throw new Failure('guest_agent_broken', 'the guest agent’s answer makes no sense')
    if (mode === 'frozen') throw new Failure('guest_frozen', `the guest of ${workload} is frozen`)
  }
}

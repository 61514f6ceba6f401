// Source hypervisors over OpenSSH. Each method is one sign-in, with a fixed script for the shell of the source.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import type { SourceHost, SourceServer, WantedServer } from '../../protocol/values/source-hosts.ts'
import { serialQueue } from '../../serial-queue.ts'
import type { AddingKeys, Contact, LookedAt, SourceHosts } from './source-hosts.ts'

export class SshSourceHosts implements SourceHosts {
  #inTurn = serialQueue()

  /** `dir`: of the node's key. */
  constructor(private dir: string) {}

  key = () =>
    this.#inTurn(async () => {
      mkdirSync(this.dir, { recursive: true, mode: 0o700 })
      const path = join(this.dir, 'key')
      if (!existsSync(path)) {
        const part = `${path}.part`
        rmSync(part, { force: true })
        await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', part])
        renameSync(`${part}.pub`, `${path}.pub`)
        renameSync(part, path)
      }
      return (await readFile(`${path}.pub`, 'utf8')).trim().split(' ').slice(0, 2).join(' ')
    })

  async addKeys({ host }: AddingKeys): Promise<Contact & { added: number; present: number }> {
    throw unreachable(host)
  }

  async removeKeys(host: SourceHost): Promise<{ removed: number }> {
    throw unreachable(host)
  }

  async look(host: SourceHost): Promise<LookedAt> {
    throw unreachable(host)
  }

  async servers(host: SourceHost, _: readonly WantedServer[]): Promise<Contact & { servers: SourceServer[] }> {
    throw unreachable(host)
  }
}

const unreachable = ({ address }: SourceHost) =>
  new Failure('source_unreachable', `this agent does not reach ${address}: it needs an update`)

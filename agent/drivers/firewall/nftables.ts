import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import type { PortRules } from '../../protocol/wire.ts'
import type { Firewall } from './firewall.ts'
import { ruleset, TABLE } from './ruleset.ts'

/** The kernel's nftables, through `nft`. Reads and writes one table, `berth` of the bridge family. */
export class Nftables implements Firewall {
  /** The table as the kernel listed it right after the last load. */
  private listing: string | undefined

  async load(rules: readonly PortRules[]) {
    await run('nft', ['-f', '-'], { stdin: ruleset(rules) }).catch((cause) => {
      throw new Failure('firewall_failed', 'the rules could not be loaded, so the old ones stay in force', { cause })
    })
    this.listing = await list()
  }

  async intact() {
    return this.listing !== undefined && (await list()) === this.listing
  }
}

/** The table as the kernel lists it, without counters; undefined when there is none. */
async function list(): Promise<string | undefined> {
  const { code, out } = await run('nft', ['--stateless', 'list', 'table', 'bridge', TABLE], {
    mayFail: true,
    quietly: true,
  })
  return code === 0 ? out : undefined
}

import type { Firewall } from '../drivers/firewall/firewall.ts'
import type { PortRules } from '../protocol/wire.ts'
import type { State } from '../state.ts'

/**
 * Keeps what guests may send: in force now (the firewall) and after the next boot (the state). Changes are one after the other,
 * and are remembered only once the kernel has taken them: rules it refuses must not keep those of other guests from loading.
 */
export class Guard {
  private last: Promise<unknown> = Promise.resolve()

  constructor(
    private firewall: Firewall,
    private state: State,
  ) {}

  /** Replaces what there was for the server. */
  allow(allowance: PortRules): Promise<void> {
    return this.inTurn(async () => {
      await this.firewall.load([...this.others(allowance.server), allowance])
      this.state.allow(allowance)
    })
  }

  /** The guest's tap then falls under "unknown taps send nothing". */
  forget(server: string): Promise<void> {
    return this.inTurn(async () => {
      await this.firewall.load(this.others(server))
      this.state.forget(server)
    })
  }

  /** Loads the rules unless they are in force. Answers whether they had to be loaded. */
  ensure(): Promise<boolean> {
    return this.inTurn(async () => {
      if (await this.firewall.intact()) return false
      await this.firewall.load(this.state.allowances())
      return true
    })
  }

  private others = (server: string) => this.state.allowances().filter((it) => it.server !== server)

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.catch(() => {}).then(work)
    this.last = turn
    return turn
  }
}

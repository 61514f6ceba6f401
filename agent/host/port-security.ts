import type { Firewall } from '../drivers/firewall/firewall.ts'
import type { PortRules } from '../protocol/wire.ts'
import type { State } from '../state.ts'

/**
 * Keeps what guests may send: in force now (the firewall) and after the next boot (the state). Changes are one after the other,
 * and are remembered only once the kernel has taken them: rules it refuses must not keep those of other guests from loading.
 */
export class PortSecurity {
  private last: Promise<unknown> = Promise.resolve()

  constructor(
    private firewall: Firewall,
    private state: State,
  ) {}

  /** Replaces what there was for the workload. */
  allow(rules: PortRules): Promise<void> {
    return this.inTurn(async () => {
      await this.firewall.load([...this.others(rules.workload), rules])
      this.state.keepPortRules(rules)
    })
  }

  /** The guest's tap then falls under "unknown taps send nothing". */
  forget(workload: string): Promise<void> {
    return this.inTurn(async () => {
      await this.firewall.load(this.others(workload))
      this.state.forgetPortRules(workload)
    })
  }

  /** Loads the rules unless they are in force. Answers whether they had to be loaded. */
  ensure(): Promise<boolean> {
    return this.inTurn(async () => {
      if (await this.firewall.intact()) return false
      await this.firewall.load(this.state.portRules())
      return true
    })
  }

  private others = (workload: string) => this.state.portRules().filter((it) => it.workload !== workload)

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.catch(() => {}).then(work)
    this.last = turn
    return turn
  }
}

import type { Firewall } from '../drivers/firewall/firewall.ts'
import type { PortRules } from '../protocol/wire.ts'
import type { State } from '../state.ts'

/**
 * The port rules of all vms, in the firewall and, for the next boot, in the state. Changes happen one after the other.
 * A rule is stored only after the kernel accepted it, so that a refused one cannot block the others at the next boot.
 */
export class PortSecurity {
  private last: Promise<unknown> = Promise.resolve()

  constructor(
    private firewall: Firewall,
    private state: State,
  ) {}

  /** Loads and stores the rules of a vm, which replace its earlier ones. Throws `firewall_failed`. */
  allow(rules: PortRules): Promise<void> {
    return this.inTurn(async () => {
      await this.firewall.load([...this.others(rules.workload), rules])
      this.state.keepPortRules(rules)
    })
  }

  /** Removes the rules of a vm. Its tap then sends nothing, like every tap without rules. */
  forget(workload: string): Promise<void> {
    return this.inTurn(async () => {
      await this.firewall.load(this.others(workload))
      this.state.forgetPortRules(workload)
    })
  }

  /** Loads the stored rules unless they are in force. Returns whether it had to load them. */
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

import { isIP } from 'node:net'
import type { Firewall } from '../drivers/firewall/firewall.ts'
import { Failure } from '../failure.ts'
import type { FirewallReport, PortPolicy } from '../protocol/firewall.ts'
import type { PortRules } from '../protocol/wire.ts'
import { serialQueue } from '../serial-queue.ts'
import type { State } from '../state.ts'

/**
 * The port rules of all vms, in the firewall and, for the next boot, in the state. Changes happen one after the other.
 * A rule is stored only after the kernel accepted it, so that a refused one cannot block the others at the next boot.
 */
export class PortSecurity {
  private readonly inTurn = serialQueue()
  /** False until the rules were found or loaded once: before, there may be no table to change. */
  private isReady = false

  constructor(
    private firewall: Firewall,
    private state: State,
  ) {}

  /**
   * Loads and stores the rules of a vm, which replace its earlier ones. A policy that is older than the one in force,
   * or none, leaves that in force. Throws `firewall_failed`.
   */
  allow(rules: PortRules): Promise<void> {
    const { workload, policy } = rules
    return this.inTurn(async () => {
      const { policy: known } = newest(this.of(workload)?.policy, this.state.earlyPolicy(workload))
      await this.replace({ ...rules, ...newest(known, policy) })
      this.state.dropEarlyPolicy(workload)
    })
  }

  /**
   * Puts a policy into force, unless it is older than the one in force. That of a vm without rules, which is being
   * installed, waits for its rules.
   */
  setPolicy(workload: string, policy: PortPolicy): Promise<void> {
    return this.inTurn(async () => {
      const rules = this.of(workload)
      if (rules) return this.replace({ ...rules, ...newest(rules.policy, policy) })
      const { policy: kept } = newest(this.state.earlyPolicy(workload), policy)
      this.state.keepEarlyPolicy(workload, kept!)
    })
  }

  /** Removes the rules of a vm. Its tap then sends nothing, like every tap without rules. */
  forget(workload: string): Promise<void> {
    return this.inTurn(async () => {
      const rules = this.of(workload)
      if (rules) await this.change(this.inForce(rules), undefined)
      this.state.forgetPortRules(workload)
      this.state.dropEarlyPolicy(workload)
    })
  }

  /**
   * Lets a vm use floating addresses, or not any more. A vm of this node that had one of them loses it first, so that
   * no address has two. Throws `no_port_rules` and `firewall_failed`.
   */
  float(workload: string, addresses: readonly string[], on: boolean): Promise<void> {
    return this.inTurn(async () => {
      const { state } = this
      if (on && !state.hasPortRules(workload))
        throw new Failure('no_port_rules', `${workload} has no firewall rules on this node yet`)
      for (const rules of state.portRules()) {
        const floating = state.floating(rules.workload)
        const rest = floating.filter((address) => !addresses.includes(address))
        const loses = rest.length < floating.length && on === (rules.workload !== workload)
        if (!loses) continue
        await this.change(withFloating(rules, floating), withFloating(rules, rest))
        state.dropFloating(rules.workload, addresses)
      }
      // Also without rules of the vm, which the next ones would bring back.
      if (!on) return state.dropFloating(workload, addresses)
      const rules = this.of(workload)!
      const floating = state.floating(workload)
      await this.change(withFloating(rules, floating), withFloating(rules, [...floating, ...addresses]))
      state.keepFloating(workload, addresses)
    })
  }

  /** The counters of a vm's firewall. Throws `no_port_rules`, `firewall_failed`, `invalid_address`. */
  look(workload: string): Promise<FirewallReport> {
    return this.inTurn(async () => {
      const rules = this.of(workload)
      if (!rules) throw new Failure('no_port_rules', `${workload} has no firewall rules on this node`)
      await this.ready()
      return this.firewall.look(this.inForce(rules))
    })
  }

  /** The addresses that vms may use, with what was asked for before this call: none is missing when a vm may start. */
  addresses(): Promise<{ workload: string; address: string }[]> {
    return this.inTurn(async () => {
      const ofRules = this.state
        .portRules()
        .flatMap(({ workload, ipv4, ipv6 }) => [...ipv4, ...ipv6].map((address) => ({ workload, address })))
      const floating = this.state
        .allFloating()
        .map(({ workload, address }) => ({ workload, address: isIP(address) === 6 ? `${address}/128` : address }))
      return [...ofRules, ...floating]
    })
  }

  /** Loads the stored rules unless they are in force. Returns whether it had to load them. */
  ensure(): Promise<boolean> {
    return this.inTurn(() => this.load())
  }

  /**
   * The same for one vm, before it starts: what is in force for the others is not looked at again, because that takes
   * a second on a node with many vms.
   */
  ensureFor(workload: string): Promise<boolean> {
    return this.inTurn(async () => {
      const rules = this.of(workload)
      return this.isReady && rules && (await this.firewall.holds(this.inForce(rules))) ? false : this.load()
    })
  }

  private async replace(next: PortRules) {
    const old = this.of(next.workload)
    const wanted = this.inForce(next)
    if (!old || JSON.stringify(this.inForce(old)) !== JSON.stringify(wanted) || !(await this.holds(wanted)))
      await this.change(old && this.inForce(old), wanted)
    this.state.keepPortRules(next)
  }

  private async holds(rules: PortRules) {
    await this.ready()
    return this.firewall.holds(rules)
  }

  /** A change that the kernel does not take may meet tables that another program changed: then all is loaded. */
  private async change(old: PortRules | undefined, next: PortRules | undefined) {
    await this.ready()
    try {
      await this.firewall.change(old, next)
    } catch (error) {
      const { workload } = (next ?? old)!
      const others = this.state.portRules().filter((rules) => rules.workload !== workload)
      await this.firewall.load([...others.map(this.inForce), ...(next ? [next] : [])]).catch(() => {
        throw error
      })
    }
  }

  private async ready() {
    if (!this.isReady) await this.load()
  }

  private async load(): Promise<boolean> {
    const rules = this.state.portRules().map(this.inForce)
    const isInForce = await this.firewall.intact(rules)
    if (!isInForce) await this.firewall.load(rules)
    this.isReady = true
    return !isInForce
  }

  private of = (workload: string) => this.state.portRulesOf(workload)
  private inForce = (rules: PortRules) => withFloating(rules, this.state.floating(rules.workload))
}

/** The policy with the higher revision of the one in force and the given one. */
function newest(old: PortPolicy | undefined, given: PortPolicy | undefined): Pick<PortRules, 'policy'> {
  const policy = given && given.revision >= (old?.revision ?? 0) ? given : old
  return policy ? { policy } : {}
}

/** The rules of a vm with its floating addresses among those that it may use. */
const withFloating = (rules: PortRules, floating: readonly string[]): PortRules => ({
  ...rules,
  ipv4: [...new Set([...rules.ipv4, ...floating.filter((address) => isIP(address) === 4)])],
  ipv6: [
    ...new Set([
      ...rules.ipv6,
      ...floating.filter((address) => isIP(address) === 6).map((address) => `${address}/128`),
    ]),
  ],
})

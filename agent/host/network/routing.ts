// The routes of the vms' prefixes, worked out anew from the port rules: after a change of them, at the start of the
// agent, and each minute, because a bridge that goes down and up loses its routes.
import type { Network, RoutedPrefix } from '../../drivers/network/network.ts'
import { guestAddressIn } from '../../protocol/guest-address.ts'
import type { State } from '../../state.ts'

export class Routing {
  private last: Promise<unknown> = Promise.resolve()

  constructor(
    private network: Network,
    private state: State,
  ) {}

  /** Sets the routes as the port rules of all vms say. Converges; one after the other. */
  ensure(): Promise<void> {
    const turn = this.last.catch(() => {}).then(() => this.network.route(this.prefixes()))
    this.last = turn
    return turn
  }

  private prefixes = (): RoutedPrefix[] =>
    this.state
      .portRules()
      .flatMap(({ ipv6 }) => ipv6)
      .filter((cidr) => !cidr.endsWith('/128'))
      .map((prefix) => ({ prefix, nextHop: guestAddressIn(prefix.split('/')[0]!) }))
}

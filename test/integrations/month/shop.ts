// A billing system as the month's driver sees it: clients, their services, and calls of its module in a process each.
import type { ListedService } from '../../../src/billing/reconciliation/compare.ts'
import type { Product } from './panel.ts'

export type Client = { id: number; name: string; email: string }
export type State = 'pending' | 'active' | 'suspended' | 'terminated'
export type Service = { id: number; client: Client; hostname: string; product: Product; state: State }
export const actions = ['create', 'suspend', 'unsuspend', 'upgrade', 'terminate', 'link'] as const
export type Action = (typeof actions)[number]
/** `dies`: the billing system is killed before it notes the answer. `product`: the new one of an upgrade. */
export type How = { dies?: boolean; product?: Product }

export type Shop = {
  /** Such as `whmcs 1`. */
  name: string
  clients: Client[]
  services: Service[]
  /** A client's order, which waits for its payment. */
  order(client: Client, hostname: string, product: Product): Promise<Service>
  /** Calls the module, and notes what the billing system notes. Answers the error in words; null: it succeeded. */
  call(service: Service, action: Action, how?: How): Promise<string | null>
  /** The client changed name and e-mail. */
  edit(client: Client): Promise<void>
  /** The names of a service and of its customer in Berth. */
  nameOf(service: Service): string
  clientName(client: Client): string
  /** The root password that the client was told last; empty for none. */
  password(service: Service): string
  /** Reads what others wrote meanwhile into the services. */
  refresh(): void
  /** An event of Berth; only for systems that receive them. */
  receive?(event: object): Promise<number>
  /** The staff of the billing system notes what it has seen in Berth. */
  note(service: Service, values: Partial<Pick<Service, 'state' | 'product'>>): Promise<void>
  close(): Promise<void>
}

export const lineOf = (shop: Shop, service: Service): ListedService => ({
  billingServiceId: shop.nameOf(service),
  ownerExternalId: shop.clientName(service.client),
  billingProductId: service.product,
  state: service.state === 'pending' ? 'terminated' : service.state,
})

export const afterAction: Partial<Record<Action, State>> = {
  create: 'active',
  suspend: 'suspended',
  unsuspend: 'active',
  terminate: 'terminated',
}
/** Clients of every installation have the same numbers. */
export const clientsOf = (name: string, count: number): Client[] =>
  Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    name: `Cal${i + 1} Customer`,
    email: `client${i + 1}@${name.replace(' ', '')}.example.com`,
  }))

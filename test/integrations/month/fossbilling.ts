import { php } from '../berth.ts'
import { packaged } from '../packaged.ts'
import type { Company } from './panel.ts'
import { afterAction, clientsOf, type Service, type Shop } from './shop.ts'

type Rows = Record<string, Record<string, unknown>>

/** A FOSSBilling. Its clients choose the system in the panel, so it hands out no root password. */
export async function fossbillingShop(p: Company, n: number, clientCount: number): Promise<Shop> {
  const name = `fossbilling ${n}`
  const installation = `fossbil${n}`
  const setting = { berth_installation: `${installation}@billing.example` }
  const hosting = new Map<Service, Record<string, unknown>>()
  const options = { host: '127.0.0.1', port: p.port, secure: false, accesshash: p.billing }

  const run = async (service: Service, action: string, { product = service.product, dies = false } = {}) => {
    const { client, id } = service
    const db: Record<string, Rows | object> = {
      setting,
      Client: { [client.id]: { ...client, company: null } },
      ClientOrder: { [id]: { id, client_id: client.id, service_id: id } },
      ServiceHosting: { [id]: hosting.get(service)! },
    }
    const plan = { berth_package: p.packages[product], berth_location: p.location }
    const said = await php(
      'test/integrations/platforms/fossbilling.php',
      { action, options, db, plan, order: id },
      { MODULE: packaged('fossbilling') },
    )
    if (!dies) hosting.set(service, said.db.ServiceHosting[id])
    return said.error as string | null
  }
  const shop: Shop = {
    name,
    clients: clientsOf(name, clientCount),
    services: [],
    refresh() {},
    async order(client, hostname, product) {
      const service: Service = { id: shop.services.length + 1, client, hostname, product, state: 'pending' }
      shop.services.push(service)
      const [sld, tld] = [hostname.split('.')[0], hostname.slice(hostname.indexOf('.'))]
      // Before it is activated, a service has the address of the panel.
      hosting.set(service, { id: service.id, client_id: client.id, username: null, sld, tld, ip: '192.0.2.1' })
      return service
    },
    async call(service, action, { dies = false, product } = {}) {
      const error = await run(service, action, { dies, ...(product && { product }) })
      if (error === null && !dies) {
        service.state = afterAction[action] ?? service.state
        service.product = product ?? service.product
      }
      return error
    },
    // The next action brings it to Berth.
    async edit() {},
    nameOf: ({ id }) => `fossbilling:${installation}:${id}`,
    clientName: ({ id }) => `fossbilling:${installation}:${id}`,
    password: () => '',
    note: async (service, values) => void Object.assign(service, values),
    async close() {},
  }
  return shop
}

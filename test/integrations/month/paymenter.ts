import { php } from '../berth.ts'
import { packaged } from '../packaged.ts'
import type { Company } from './panel.ts'
import { afterAction, clientsOf, type Service, type Shop } from './shop.ts'

export async function paymenterShop(p: Company, n: number, clientCount: number): Promise<Shop> {
  const name = `paymenter ${n}`
  const installation = `paymen0${n}`
  const properties = new Map<Service, Record<string, string>>()
  const passwords = new Map<Service, string>()
  const config = { host: `http://127.0.0.1:${p.port}`, token: p.billing, installation }
  const run = async (service: Service, action: string, { product = service.product, dies = false } = {}) => {
    const said = await php(
      'test/integrations/platforms/paymenter.php',
      {
        action,
        config,
        settings: { package: p.packages[product], location: p.location, image: p.image },
        properties: properties.get(service) ?? {},
        service: service.id,
        user: service.client,
      },
      { MODULE: packaged('paymenter') },
    )
    if (!dies) properties.set(service, said.properties)
    if (!dies && action === 'create' && said.error === null) passwords.set(service, said.answer.password ?? '')
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
      properties.set(service, { hostname })
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
    nameOf: (service) => `paymenter:${installation}:${service.id}`,
    clientName: ({ id }) => `paymenter:${installation}:${id}`,
    password: (service) => passwords.get(service) ?? '',
    note: async (service, values) => void Object.assign(service, values),
    async close() {},
  }
  return shop
}

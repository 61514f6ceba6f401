import { php } from '../berth.ts'
import { packaged } from '../packaged.ts'
import type { Company } from './panel.ts'
import { afterAction, clientsOf, type Service, type Shop } from './shop.ts'

type Field = { key: string; value: string; encrypted: number }

export async function blestaShop(p: Company, n: number, clientCount: number): Promise<Shop> {
  const [name, host] = [`blesta ${n}`, `blesta${n}.example.com`]
  const entered = { panel_name: 'Frankfurt', address: `http://127.0.0.1:${p.port}`, token: p.billing }
  const fields = new Map<Service, Field[]>()
  const called = (input: object) =>
    php('test/integrations/platforms/blesta.php', { host, ...input }, { MODULE: packaged('blesta') })
  const added = await called({ action: 'test', row: null, vars: { ...entered, installation: '' } })
  const row = Object.fromEntries(added.answer.map(({ key, value }: Field) => [key, value]))
  const stored = (service: Service) =>
    Object.fromEntries((fields.get(service) ?? []).map(({ key, value }) => [key, value])) as Record<string, string>

  const run = async (service: Service, action: string, { vars = {}, product = service.product, dies = false } = {}) => {
    const { id, email } = service.client
    const [first_name, last_name] = service.client.name.split(' ')
    const said = await called({
      action,
      row,
      meta: { package: p.packages[product], location: p.location, image: p.image },
      client: { id, email, first_name, last_name },
      service: service.id,
      fields: fields.get(service) ?? [],
      vars,
    })
    if (said.error === null && action === 'create' && !dies) fields.set(service, said.answer)
    return said.error as string | null
  }
  const shop: Shop = {
    name,
    clients: clientsOf(name, clientCount),
    services: [],
    async order(client, hostname, product) {
      const service: Service = { id: shop.services.length + 1, client, hostname, product, state: 'pending' }
      shop.services.push(service)
      await run(service, 'create', { vars: { use_module: 'false', berth_hostname: hostname } })
      return service
    },
    async call(service, action, { dies = false, product } = {}) {
      const vars = action === 'create' ? { ...stored(service), use_module: 'true' } : {}
      const error = await run(service, action, { vars, dies, ...(product && { product }) })
      if (error === null && !dies) {
        service.state = afterAction[action] ?? service.state
        service.product = product ?? service.product
      }
      return error
    },
    // A renewal brings it to Berth.
    async edit(client) {
      const theirs = shop.services.find((service) => service.client === client && service.state === 'active')
      if (theirs) await run(theirs, 'renew')
    },
    nameOf: (service) => `blesta:${row['installation'].split('@')[0]}:${stored(service)['berth_service']}`,
    clientName: ({ id }) => `blesta:${row['installation'].split('@')[0]}:${id}`,
    password: (service) => stored(service)['berth_password'] ?? '',
    note: async (service, values) => void Object.assign(service, values),
    refresh() {},
    async close() {},
  }
  return shop
}

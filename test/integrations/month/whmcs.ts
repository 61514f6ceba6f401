import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signedHeaders } from '../../../src/billing/webhooks/signature.ts'
import { freePort } from '../../support/world/program.ts'
import { php } from '../berth.ts'
import { packaged } from '../packaged.ts'
import type { Company, Product } from './panel.ts'
import { products } from './panel.ts'
import { clientsOf, type Service, type Shop, type State } from './shop.ts'

const SECRET = 'whsec_c2VjcmV0'
const functions = {
  create: 'CreateAccount',
  suspend: 'SuspendAccount',
  unsuspend: 'UnsuspendAccount',
  upgrade: 'ChangePackage',
  terminate: 'TerminateAccount',
  link: 'ServiceSingleSignOn',
} as const
type Row = {
  id: number
  domainstatus?: string
  status?: string
  packageid?: number
  addonid?: number
  password?: string
  fields: Record<string, string>
}

/** A WHMCS over a file, with its receiver of webhooks. Every fourth service is an add-on of the client's first. */
export async function whmcsShop(p: Company, n: number, clientCount: number): Promise<Shop> {
  const name = `whmcs ${n}`
  const home = mkdtempSync(join(tmpdir(), 'berth-month-'))
  const folder = join(home, 'modules/servers/berth')
  mkdirSync(folder, { recursive: true })
  cpSync(join(packaged('whmcs'), 'berth'), folder, { recursive: true })
  writeFileSync(
    join(home, 'init.php'),
    `<?php require '${process.cwd()}/test/integrations/platforms/whmcs-standin.php';`,
  )
  const file = join(home, 'state.json')
  const clients = clientsOf(name, clientCount)
  const options = products.map((product, i) => ({
    id: i + 1,
    options: { configoption1: p.packages[product], configoption2: p.location, configoption3: p.image },
  }))
  const row = ({ id, name, email }: (typeof clients)[number]) => {
    const [firstname, lastname] = name.split(' ')
    return { id, firstname, lastname, email, companyname: '' }
  }
  const address = { type: 'berth', hostname: '127.0.0.1', port: String(p.port), secure: '' }
  const state = {
    tblconfiguration: [{ setting: 'SystemURL', value: `https://whmcs${n}.example.com/` }],
    tblclients: clients.map(row),
    tblproducts: options,
    tbladdons: options,
    tblhosting: [] as Row[],
    tblhostingaddons: [] as Row[],
    tblservers: [{ id: 3, ...address, username: '', password: btoa(SECRET), accesshash: p.billing }],
    mails: [],
  }
  writeFileSync(file, JSON.stringify(state))
  const env = { STANDIN_STATE: file, MODULE: folder }
  const called = (input: object) => php('test/integrations/platforms/whmcs.php', input, env)
  const read = () => JSON.parse(readFileSync(file, 'utf8')) as typeof state
  /** A row that people write, new or changed. */
  const write = (table: string, row: { id: number } & Record<string, unknown>) =>
    called({ function: 'write', table, row })
  await called({ function: 'TestConnection' })
  const installation = read().tblservers[0]!.username.split('@')[0]!

  const addons = new Map<Service, number>()
  const rowOf = (service: Service, state = read()): Row =>
    addons.has(service)
      ? state.tblhostingaddons.find(({ id }) => id === addons.get(service))!
      : state.tblhosting.find(({ id }) => id === service.id)!
  /** Reads the state of a service in WHMCS, which the module, webhooks and people write. */
  function refresh(service: Service) {
    const { domainstatus, status, packageid, addonid } = rowOf(service)
    service.state = (domainstatus ?? status)!.toLowerCase() as State
    service.product = products[(packageid ?? addonid)! - 1]!
  }
  /** Columns of a service or an add-on, which have other names. */
  const writeOf = (service: Service, { state, product }: { state?: State; product?: Product }) => {
    const addon = addons.get(service)
    const shown = state && state[0]!.toUpperCase() + state.slice(1)
    return write(addon === undefined ? 'tblhosting' : 'tblhostingaddons', {
      id: addon ?? service.id,
      ...(shown && { [addon === undefined ? 'domainstatus' : 'status']: shown }),
      ...(product && { [addon === undefined ? 'packageid' : 'addonid']: products.indexOf(product) + 1 }),
    })
  }
  const port = freePort()
  const receiver = Bun.spawn(['php', '-S', `127.0.0.1:${port}`, '-t', home], {
    env: { PATH: process.env['PATH']!, ...env },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const url = `http://127.0.0.1:${port}/modules/servers/berth/webhook.php`
  for (let i = 0; i < 200; i++) {
    const answers = await fetch(url).catch(() => undefined)
    if (answers) break
    await Bun.sleep(50)
  }

  const shop: Shop = {
    name,
    clients,
    services: [],
    refresh: () => shop.services.forEach(refresh),
    async order(client, hostname, product) {
      const first = shop.services.find((one) => one.client === client && !addons.has(one))
      const isAddon = first !== undefined && shop.services.length % 4 === 3
      const service: Service = {
        id: isAddon ? first.id : shop.services.length + 1,
        client,
        hostname,
        product,
        state: 'pending',
      }
      shop.services.push(service)
      const packageid = products.indexOf(product) + 1
      if (isAddon) {
        const id = addons.size + 1
        addons.set(service, id)
        const own = { id, hostingid: first.id, addonid: packageid, userid: client.id, server: 3 }
        await write('tblhostingaddons', { ...own, status: 'Pending', fields: {} })
      } else {
        const row = {
          id: service.id,
          userid: client.id,
          packageid,
          server: 3,
          domain: hostname,
          domainstatus: 'Pending',
        }
        const made = { username: hostname.slice(0, 8), password: 'whmcsMade1', dedicatedip: '', fields: {} }
        await write('tblhosting', { ...row, ...made, bwusage: 0, bwlimit: 0, disklimit: 0, lastupdate: '' })
      }
      return service
    },
    async call(service, action, { dies = false, product } = {}) {
      // WHMCS changes the product before it calls the module.
      const params = product ? { configoption1: p.packages[product] } : {}
      const addon = addons.get(service)
      const said = await called({
        function: functions[action],
        service: service.id,
        params,
        dies,
        ...(addon && { addon }),
      })
      const error = action === 'link' ? (said.success ? null : said.errorMsg) : said === 'success' ? null : said
      if (error === null && product && !dies) await writeOf(service, { product })
      refresh(service)
      return error
    },
    async edit(client) {
      await write('tblclients', row(client))
      await called({ function: 'ClientEdit', client: client.id })
    },
    nameOf: (service) => {
      const addon = addons.get(service)
      return `whmcs:${installation}:${addon === undefined ? service.id : `addon-${addon}`}`
    },
    clientName: ({ id }) => `whmcs:${installation}:${id}`,
    password(service) {
      const row = rowOf(service)
      return row.password ?? row.fields['Password'] ?? ''
    },
    async receive(event) {
      const body = JSON.stringify(event)
      const { id, type } = event as { id: string; type: string }
      const timestamp = Math.floor(Date.now() / 1000)
      const headers = signedHeaders([SECRET], { deliveryId: 'dlv_1', eventId: id, type, timestamp, body })
      return (await fetch(url, { method: 'POST', headers, body })).status
    },
    async note(service, values) {
      await writeOf(service, values)
      refresh(service)
    },
    async close() {
      receiver.kill()
      await receiver.exited
      rmSync(home, { recursive: true, force: true })
    },
  }
  return shop
}

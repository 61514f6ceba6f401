// Scripts that switch the services of a billing system from the module of the other panel to that of Berth.
import { operation, stream } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { serversBySlice } from '../import-records/inventory/queries.ts'
import { filterFrom } from '../import-records/inventory/server-filter.ts'
import { type ImportRecord, importAccess, importRecord } from '../import-records/model.ts'
import { showReportRow } from './rows.ts'
import blesta from './scripts/blesta.php' with { type: 'text' }
import engine from './scripts/engine.php' with { type: 'text' }
import fossbilling from './scripts/fossbilling.php' with { type: 'text' }
import paymenter from './scripts/paymenter.php' with { type: 'text' }
import whmcs from './scripts/whmcs.php' with { type: 'text' }

type System = { label: string; className: string; source: string; entry: string; product: string }
export const billingSystems = {
  whmcs: { label: 'WHMCS', className: 'Whmcs', source: whmcs, entry: 'server', product: 'product' },
  blesta: { label: 'Blesta', className: 'Blesta', source: blesta, entry: 'module row', product: 'package' },
  fossbilling: {
    ...{ label: 'FOSSBilling', className: 'Fossbilling', source: fossbilling },
    ...{ entry: 'server', product: 'hosting plan' },
  },
  paymenter: { label: 'Paymenter', className: 'Paymenter', source: paymenter, entry: 'server', product: 'product' },
} as const satisfies Record<string, System>
export type BillingSystem = keyof typeof billingSystems
export const billingSystemNames = Object.keys(billingSystems) as BillingSystem[]

/** How it is used; it stands at the head of the script. */
const usage = ({ label, entry, product }: System, { id }: ImportRecord) => `
Switches the services of servers that moved with the import ${id} from the module of the other panel to
that of Berth, in the database of ${label}. Copy the database first. Run it on a machine that reaches it:

  export BILLING_DSN='mysql:host=localhost;dbname=NAME' BILLING_USER=NAME BILLING_PASSWORD=...
  export BERTH_TOKEN=pnl_...           a token with the preset for billing
  php switch.php                       shows what it would do, and changes nothing
  php switch.php --apply               does it: all of it, or nothing
  php switch.php --undo                shows what would be taken back; with --apply it is
                                       (what was changed stands in berth-switch-${id}.undo.json)

  --server ID            the ${entry} of Berth there, where there are several
  --old-server ID,ID     those of the panel of before, where there are several
  --old-field NAME       where the service keeps the id of its server in the panel of before
  --product OLD=NEW      a ${product} of before becomes one of Berth; where only one orders the package,
                         it is found
  --only ID,ID           these services alone
  --other-emails         a client may have another e-mail than the customer in Berth
  --skip-problems        what can be switched is switched, although others have problems
  --undo-file FILE       another file

It may run as often as you like. What is switched already stays. PHP 8.1 with PDO is needed.`

const body = (source: string) => source.replace(/^<\?php\n/, '')
const AT_ONCE = 500

/** A line for each server that has moved and is still here. */
function* mappingLines(tx: Db, importId: string): Generator<string> {
  const moved = filterFrom({ state: 'moved' })
  for (let after = '', isFirst = true; ; ) {
    const rows = serversBySlice(tx, importId, moved, after, AT_ONCE)
    for (const row of rows) {
      const { oldId, oldAddresses, server } = showReportRow(tx, row)
      if (!server || server.addresses.length === 0) continue
      const isIpv4 = (one: string) => !one.includes(':')
      const oldIpv4 = oldAddresses.find(isIpv4) ?? null
      const line = {
        ...{ oldId, serverId: server.id, hostname: server.hostname, packageId: server.packageId },
        ...{ ipv4: server.addresses.find(isIpv4) ?? null, oldIpv4 },
      }
      yield `${isFirst ? '' : ',\n'}${JSON.stringify(line)}`
      isFirst = false
    }
    if (rows.length < AT_ONCE) return
    after = rows.at(-1)!.id
  }
}

/** The script, in parts. */
export function* scriptOf(tx: Db, target: ImportRecord, name: BillingSystem, publicUrl: string): Generator<string> {
  const system = billingSystems[name]
  const head = usage(system, target).trim().split('\n')
  yield `<?php\n${head.map((line) => `// ${line}`.trimEnd()).join('\n')}\n\ndeclare(strict_types=1);\n\n`
  yield `${body(engine)}\n${body(system.source)}\n`
  const about = { id: target.id, kind: target.kind, address: publicUrl }
  // A line of JSON begins with a brace, so that none of them ends the text.
  yield `$import = json_decode(<<<'BERTH_IMPORT'\n${JSON.stringify(about).slice(0, -1)}, "rows": [\n`
  yield* mappingLines(tx, target.id)
  yield `\n]}\nBERTH_IMPORT, true, 512, JSON_THROW_ON_ERROR);\n`
  yield `exit(main(array_slice($argv, 1), ${system.className}::class, $import));\n`
}

const scriptFor = <N extends BillingSystem>(name: N) =>
  operation({
    id: `imports.script-${name}`,
    method: 'GET',
    path: `/admin/migrations/{id}/report/scripts/${name}`,
    summary: `A PHP script that switches the services of moved servers in ${billingSystems[name].label} to Berth`,
    access: importAccess,
    on: importRecord,
    produces: 'text/plain',
    response: stream,
    run: ({ tx, target, config }) => scriptOf(tx, target, name, config.publicUrl),
  })
export const scriptOperations = billingSystemNames.map(scriptFor)

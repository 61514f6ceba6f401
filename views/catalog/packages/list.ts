import { changePackage, createPackage, listPackages } from '../../../src/catalog/packages/packages.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../../src/kernel/web/page.ts'
import { count, exactGb, exactMb, traffic } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { empty } from '../../html/card.ts'
import { field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pill } from '../../html/state.ts'
import { pager, table } from '../../html/table.ts'

type Package = Answers<{ p: typeof listPackages }>['p']['data'][number]

const fields = (scope: string, p?: Package): Html => html`
  ${field(scope, 'name', { label: 'Name', required: true, value: p?.name, placeholder: 'KVM 2G' })}
  <div class="pair">${field(scope, 'vcpus', { label: 'vCPUs', as: 'number', required: true, value: p?.vcpus ?? 2 })}${field(scope, 'memoryMb', { label: 'Memory', as: 'number', unit: 'MB', required: true, value: p?.memoryMb ?? 2048 })}${field(scope, 'diskGb', { label: 'Disk', as: 'number', unit: 'GB', required: true, value: p?.diskGb ?? 40 })}</div>
  <div class="pair">${field(scope, 'trafficGb', { label: 'Traffic a month', as: 'number', nullable: true, unit: 'GB', value: p?.trafficGb })}${field(scope, 'portMbps', { label: 'Port speed', as: 'number', nullable: true, unit: 'Mbit/s', value: p?.portMbps })}</div>
  <div class="pair">${field(scope, 'ipv4', { label: 'IPv4 addresses', as: 'number', required: true, value: p?.ipv4 ?? 1 })}${field(scope, 'ipv6Prefix', { label: 'IPv6 prefix length', as: 'number', nullable: true, value: p ? p.ipv6Prefix : 64, hint: '56 to 128; empty for none' })}</div>
  ${field(scope, 'billingProductId', { label: 'Billing product id', nullable: true, value: p?.billingProductId })}`

const add = (at: At) =>
  act(at, createPackage, {}, 'Add package', {
    icon: 'plus',
    tone: 'pri',
    wide: true,
    done: '{name} is added',
    fields: fields('package'),
  })

export const packagesPage = page({
  path: '/admin/packages',
  reads: { packages: listPackages },
  title: 'Packages',
  nav: 'packages',
  view: ({ packages, at }) => html`
    ${head({ title: 'Packages', actions: add(at), sub: 'Sizes that servers are ordered in. A server keeps the size it was ordered with.' })}
    <section class="sec" aria-label="Packages">
      ${
        packages.data.length
          ? table<Package>(
              'Packages',
              packages.data,
              [
                {
                  title: 'Package',
                  main: true,
                  cell: (p) =>
                    html`<strong>${p.name}</strong>${p.billingProductId && html`<small class="mono">${p.billingProductId}</small>`}`,
                },
                {
                  title: 'State',
                  cell: (p) => (p.archived ? pill('idle', 'hold', 'Archived') : pill('ok', 'dot', 'On sale')),
                },
                { title: 'vCPUs', num: true, cell: (p) => p.vcpus },
                { title: 'Memory', num: true, cell: (p) => exactMb(p.memoryMb) },
                { title: 'Disk', num: true, cell: (p) => exactGb(p.diskGb) },
                { title: 'Traffic', num: true, cell: (p) => (p.trafficGb ? traffic(p.trafficGb) : 'Not limited') },
                { title: 'Addresses', cell: (p) => `${p.ipv4} IPv4${p.ipv6Prefix ? `, IPv6 /${p.ipv6Prefix}` : ''}` },
                {
                  title: 'Servers',
                  num: true,
                  cell: (p) => (p.servers ? html`<a href="/admin/servers?packageId=${p.id}">${p.servers}</a>` : '0'),
                },
                {
                  title: 'Actions',
                  actions: true,
                  cell: (p) => html`<div class="bar">
                ${
                  p.archived
                    ? act(at, changePackage, { id: p.id }, 'Restore', {
                        of: p.name,
                        body: { archived: false },
                        done: `${p.name} is on sale`,
                      })
                    : act(at, changePackage, { id: p.id }, 'Archive', {
                        of: p.name,
                        body: { archived: true },
                        title: `Archive ${p.name}?`,
                        done: `${p.name} is archived`,
                        confirm: {
                          keep: 'Keep on sale',
                          consequences: [
                            'It can no longer be ordered.',
                            p.servers > 0 &&
                              `${count(p.servers, 'server')} with it ${p.servers === 1 ? 'goes' : 'go'} on.`,
                            'It can be restored.',
                          ],
                        },
                      })
                }
                ${act(at, changePackage, { id: p.id }, 'Edit', { of: p.name, title: `Edit ${p.name}`, wide: true, submit: 'Save', done: 'Saved', fields: fields(`edit-${p.id}`, p) })}</div>`,
                },
              ],
              (p) => p.id,
            )
          : empty('There is no package yet. An order needs one.')
      }
      ${pager(at, packages)}
    </section>`,
})

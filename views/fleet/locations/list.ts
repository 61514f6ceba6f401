import { changeLocation, createLocation, listLocations } from '../../../src/fleet/locations/locations.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, readingAll } from '../../../src/kernel/web/page.ts'
import { count, gb, mb } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { empty, meter } from '../../html/card.ts'
import { field, radios } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { openState } from '../../html/state.ts'
import { table } from '../../html/table.ts'

type Location = Answers<{ l: typeof listLocations }>['l']['data'][number]

const fields = (scope: string, l?: Location) => html`
  ${field(scope, 'name', { label: 'Name', required: true, value: l?.name, hint: 'What customers see, for example Frankfurt.' })}
  ${radios(scope, 'placement', {
    label: 'New servers go',
    value: l?.placement ?? 'spread',
    options: [
      { value: 'spread', label: 'Spread', hint: 'To the node with the most free memory.' },
      { value: 'fill', label: 'Fill', hint: 'To the fullest node that fits, so that whole nodes stay empty.' },
    ],
  })}`

const add = (at: At) =>
  act(at, createLocation, {}, 'Add location', {
    icon: 'plus',
    tone: 'pri',
    done: '{name} is added',
    fields: fields('location'),
  })

export const locationsPage = page({
  path: '/admin/node-groups',
  reads: { locations: readingAll(listLocations) },
  title: 'Locations',
  nav: 'locations',
  view: ({ locations, at }) => html`
    ${head({ title: 'Locations', actions: add(at), sub: 'A location is a group of nodes with a rule for where a new server goes. Customers see its name.' })}
    <section class="sec" aria-label="Locations">${
      locations.data.length
        ? table<Location>(
            'Locations',
            locations.data,
            [
              {
                title: 'Location',
                main: true,
                cell: (l) =>
                  html`<a href="/admin/nodes?locationId=${l.id}">${l.name}</a><small>${l.placement === 'fill' ? 'Fills nodes one after the other' : 'Spreads over its nodes'}</small>`,
              },
              { title: 'State', cell: (l) => openState(l.open) },
              {
                title: 'Nodes',
                cell: (l) => html`${count(l.nodes, 'node')}<small>${l.connectedNodes} connected</small>`,
              },
              {
                title: 'Servers',
                num: true,
                cell: (l) => (l.servers ? html`<a href="/admin/servers?locationId=${l.id}">${l.servers}</a>` : '0'),
              },
              {
                title: 'Memory held',
                cell: (l) => meter('Memory', l.heldMemoryMb, l.memoryMb, `${mb(l.heldMemoryMb)} of ${mb(l.memoryMb)}`),
              },
              {
                title: 'Disk held',
                cell: (l) => meter('Disk', l.heldDiskGb, l.diskGb, `${gb(l.heldDiskGb)} of ${gb(l.diskGb)}`),
              },
              { title: 'Free IPv4', num: true, cell: (l) => l.freeIpv4.toLocaleString('en') },
              {
                title: 'Actions',
                actions: true,
                cell: (l) =>
                  html`<div class="bar">${act(at, changeLocation, { id: l.id }, l.open ? 'Close' : 'Open', { of: l.name, body: { open: !l.open }, done: l.open ? `${l.name} takes no new servers` : `${l.name} takes new servers` })}${act(at, changeLocation, { id: l.id }, 'Edit', { of: l.name, title: `Edit ${l.name}`, submit: 'Save', done: 'Saved', fields: fields(`edit-${l.id}`, l) })}</div>`,
              },
            ],
            (l) => l.id,
          )
        : empty('There is no location yet: add the first, then enroll a node into it.')
    }</section>`,
})

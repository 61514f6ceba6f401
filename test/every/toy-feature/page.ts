import { html } from '../../../src/kernel/web/html.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { listLamps } from './lamps.ts'

export const lampsPage = page({
  path: '/lamps',
  reads: { lamps: listLamps },
  title: 'Lamps',
  nav: 'lamps',
  view: ({ lamps }) =>
    html`<h1>Lamps</h1><ul>${lamps.data.map(({ name, state }) => html`<li>${name}: ${state}</li>`)}</ul>`,
})

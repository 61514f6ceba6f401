import { page } from '../../../src/kernel/web/page.ts'
import { Head } from '../../../views/components/head.tsx'
import { Section } from '../../../views/components/section.tsx'
import { listLamps } from './lamps.ts'

export const lampsPage = page({
  path: '/lamps',
  reads: { lamps: listLamps },
  title: 'Lamps',
  nav: 'lamps',
  view: ({ lamps }) => (
    <>
      <Head title="Lamps" />
      <Section id="lamps" title="Lamps">
        <ul>
          {lamps.data.map(({ name, state }) => (
            <li>
              {name}: {state}
            </li>
          ))}
        </ul>
      </Section>
    </>
  ),
})

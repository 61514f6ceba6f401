import { page } from '../../../src/kernel/web/page.ts'
import { Head } from '../../../views/components/head.tsx'
import { List } from '../../../views/components/list.tsx'
import { Empty } from '../../../views/components/section.tsx'
import { listBoxes } from './box-actions.ts'

export const boxesPage = page({
  path: '/admin/boxes',
  reads: { boxes: listBoxes },
  title: 'Boxes',
  nav: 'boxes',
  view: ({ boxes }) => (
    <>
      <Head title="Boxes" />
      <List of={boxes} noun="box" plural="boxes" empty={<Empty title="No boxes yet">They appear here.</Empty>}>
        <ul>
          {boxes.data.map(({ name, status }) => (
            <li>
              {name}: {status}
            </li>
          ))}
        </ul>
      </List>
    </>
  ),
})

// The software of the other panel on adopted nodes: what happens to it, what would be touched, and how it comes back.
import { getImport } from '../../../src/imports/imports/imports.ts'
import { chooseSourceRemoval, getSourceRemoval } from '../../../src/imports/source-removal/choose.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { CallForm } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Note } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { type Import, ImportState, importFiles, importsTrail, titleOf } from '../imports/words.tsx'
import { ByHand, Checked, NeverTouched, RootKeys, Touched } from './node.tsx'
import { choiceWords, lookOf, type Removal, whyOf } from './words.ts'

const reads = {
  import: reading(getImport, ({ params }) => ({ params })),
  removal: reading(getSourceRemoval, ({ params }) => ({ params })),
}
type Data = Answers<typeof reads>

export const cleanUpPage = page({
  path: '/admin/imports/{id}/clean-up',
  reads,
  title: ({ import: of }) => `Clean up after ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: ({ import: of, removal }) => (
    <Live id="clean-up" every={removal.nodes.some(isAtWork) ? 3 : undefined} class="">
      <Head
        title="Clean up"
        trail={[...importsTrail, [titleOf(of), `/admin/imports/${of.id}`]]}
        state={<ImportState of={of} tag />}
        sub={
          <>
            <span>{of.panel}</span>
            <span>{count(removal.nodes.length, 'adopted node')}</span>
            <span>nothing is ever deleted: all of it can be put back</span>
          </>
        }
      />
      {!removal.isAsked && (
        <Note level="info">
          It is asked for each adopted node once the import is finished. Until then nothing happens.
        </Note>
      )}
      {removal.nodes.length ? (
        <Nodes of={of} removal={removal} />
      ) : (
        <Empty>This import has adopted no server, so no node has the other panel’s software.</Empty>
      )}
    </Live>
  ),
})
const isAtWork = ({ state }: Removal) => state === 'removing' || state === 'restoring'

function Nodes({ of, removal }: { of: Import; removal: Data['removal'] }) {
  const chosen = useAt().query['node']
  const { nodes, neverTouched, isAsked } = removal
  const one = nodes.find(({ node }) => node.id === chosen) ?? nodes[0]!
  return (
    <>
      <Table label="Nodes" rows={nodes} columns={columnsFor(of, isAsked)} idOf={({ node }) => node.id} />
      <div class="split">
        <div>
          <Touched of={of} removal={one} />
          <RootKeys of={of} removal={one} isAsked={isAsked} />
          <NeverTouched of={of} removal={one} words={neverTouched} isAsked={isAsked} />
        </div>
        <div>
          <ByHand removal={one} />
          <Checked removal={one} />
        </div>
      </div>
    </>
  )
}

const columnsFor = (of: Import, isAsked: boolean): Column<Removal>[] => [
  {
    title: 'Node',
    kind: 'name',
    width: 22,
    cell: ({ node, hypervisor, servers, isMaster }) => (
      <>
        <Link to="/admin/imports/{id}/clean-up" params={{ id: of.id }} query={{ node: node.id }}>
          {node.name}
        </Link>
        <small>
          <span class="mono">{hypervisor.address}</span>
          {isMaster && ' · the master'} · {count(servers, 'server')}
        </small>
      </>
    ),
  },
  {
    title: 'What happens',
    kind: 'wide',
    width: 28,
    cell: (row) => <Choice of={of} removal={row} isAsked={isAsked} />,
  },
  {
    title: 'State',
    kind: 'state',
    width: 18,
    cell: (row) => {
      const { words, tone, shape } = lookOf(row)
      return (
        <State tone={tone} shape={shape}>
          {words}
        </State>
      )
    },
  },
  { title: 'Why', kind: 'wide', width: 32, cell: (row) => <span class="why">{whyOf(row)}</span> },
]

function Choice({ of, removal, isAsked }: { of: Import; removal: Removal; isAsked: boolean }) {
  const at = useAt()
  const { node, choice } = removal
  if (!isAsked || !at.may(chooseSourceRemoval) || isAtWork(removal))
    return <>{choice ? choiceWords[choice] : 'Undecided'}</>
  return (
    <CallForm
      op={chooseSourceRemoval}
      params={{ id: of.id }}
      body={{ nodeId: node.id }}
      class="call choice"
      whenChosen
      done="Saved"
    >
      <select id={`choice-${node.id}`} name="choice" aria-label={`What happens on ${node.name}`} autocomplete="off">
        {choice === null && (
          <option value="" selected disabled>
            Choose…
          </option>
        )}
        {Object.entries(choiceWords).map(([value, words]) => (
          <option value={value} selected={value === choice}>
            {words}
          </option>
        ))}
      </select>
    </CallForm>
  )
}

// The start of a roll-out: what would be updated in which order, and the choices.
import { listLocations } from '../../../src/fleet/locations/locations.ts'
import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { timeZones } from '../../../src/kernel/time-zones.ts'
import { VERSION } from '../../../src/kernel/version.ts'
import { type Answers, page, readingAll } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { startRollOut } from '../../../src/platform/roll-outs/roll-outs.ts'
import { CallForm } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Field, Select } from '../../components/field.tsx'
import { Chooser, chooserFiles, fewOf, ManyChooser } from '../../components/forms/chooser.tsx'
import { Head } from '../../components/head.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { count } from '../../components/words.ts'
import { titleOf, trail } from './words.tsx'

const reads = { nodes: readingAll(listNodes), locations: readingAll(listLocations) }
type Read = Answers<typeof reads>
type Node = Read['nodes']['data'][number]

export const newRollOutPage = page({
  path: '/admin/roll-outs/new',
  reads,
  title: titleOf({ version: VERSION }),
  nav: 'controller',
  files: chooserFiles,
  view: ({ nodes, locations }) => {
    const older = nodes.data.filter(({ agentVersion, lostAt }) => agentVersion !== VERSION && lostAt === null)
    const itself = older.filter(({ agentUpdatedBy }) => agentUpdatedBy === 'itself')
    return (
      <>
        <Head
          title={titleOf({ version: VERSION })}
          trail={trail}
          sub={
            <span>
              {itself.length} of {count(nodes.data.length, 'node')} take part
            </span>
          }
        />
        <Apart nodes={older.filter(({ agentUpdatedBy }) => agentUpdatedBy !== 'itself')} />
        {itself.length ? (
          <Choices nodes={itself} locations={locations.data} />
        ) : (
          <Empty>Every agent runs {VERSION}, or does not update itself. There is nothing to roll out.</Empty>
        )}
      </>
    )
  },
})

/** So many nodes are named in a sentence. */
const NODES_NAMED = 20

const Apart = ({ nodes }: { nodes: readonly Node[] }) => {
  const named = (by: Node['agentUpdatedBy'][]) => nodes.filter(({ agentUpdatedBy }) => by.includes(agentUpdatedBy))
  const words = (some: readonly Node[]) => {
    const names = some.slice(0, NODES_NAMED).map(({ name }) => name)
    return `${names.join(', ')}${some.length > NODES_NAMED ? ` and ${some.length - NODES_NAMED} more` : ''}`
  }
  const [packaged, byHand] = [named(['package']), named(['hand', null])]
  return (
    <>
      {packaged.length > 0 && (
        <Note level="info">
          <strong>Updated with apt:</strong> {words(packaged)}. Berth came to them as a package.
        </Note>
      )}
      {byHand.length > 0 && (
        <Note level="info">
          <strong>Updated by hand:</strong> {words(byHand)}. Run install.sh --agent there once; later they update
          themselves.
        </Note>
      )}
    </>
  )
}

const Choices = ({ nodes, locations }: { nodes: readonly Node[]; locations: Read['locations']['data'] }) => (
  <Section id="choices" title="How" first>
    <CallForm op={startRollOut} leadsTo="/admin/roll-outs/{id}" class="stack l">
      <Chooser
        scope="roll-out"
        name="firstNodeId"
        label="First node"
        hint="The others begin when it has run the version for a while."
        of="node"
        choices={fewOf(nodes)}
        value={undefined}
        none="The connected node with the fewest servers"
      />
      <Field
        scope="roll-out"
        name="watchSeconds"
        label="Watch the first node and each wave for"
        as="number"
        min={0}
        value={900}
        unit="s"
      />
      <Field
        scope="roll-out"
        name="waveSizes"
        label="Nodes at once"
        as="numbers"
        value="3, 5, 10"
        hint="In the first wave, the second, and so on. The last number counts for all that follow."
      />
      <ManyChooser
        scope="roll-out"
        name="leftOutNodeIds"
        label="Leave out"
        hint="They stay at their version."
        of="node"
        choices={fewOf(nodes)}
        chosen={[]}
      />
      <Checks
        scope="roll-out"
        name="windows.0.locationIds"
        label="Only within a window"
        hint="Nodes of these locations begin between the two times below; all others begin at any time."
        values={[]}
        options={locations.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <Field scope="roll-out" name="windows.0.from" label="From" value="02:00" />
      <Field scope="roll-out" name="windows.0.to" label="Until" value="05:00" />
      <Select
        scope="roll-out"
        name="windows.0.timeZone"
        label="Time zone"
        value={useAt().uiPreferences?.timeZone ?? 'UTC'}
        options={timeZones().map((zone) => ({ value: zone, label: zone }))}
      />
      <button class="btn pri">Begin with the first node</button>
    </CallForm>
  </Section>
)

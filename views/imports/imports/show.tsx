// An import: what is left to decide stands first, what is decided below it.
import { listChanges } from '../../../src/imports/discovery/discover.ts'
import { getImport } from '../../../src/imports/imports/imports.ts'
import { getMapping, getPlan, listMappedHypervisors } from '../../../src/imports/mapping/mapping.ts'
import { type Answers, ifNamed, page, reading } from '../../../src/kernel/web/page.ts'
import { Figure, Stats } from '../../components/figures.tsx'
import { Section } from '../../components/section.tsx'
import { count, gb } from '../../components/words.ts'
import { Discover, panelsRead } from './actions.tsx'
import { Certificate } from './certificate.tsx'
import { Decided, Hypervisors, LeftToDecide } from './decisions.tsx'
import { ImportFrame, type StepName } from './frame.tsx'
import { NotImported, SentThere, SinceLastTime, WhatItWouldDo } from './outlook.tsx'
import { Points } from './points.tsx'
import { Reading } from './reading.tsx'
import { comingOf, type Import, importFiles, titleOf } from './words.tsx'

/** Read once the panel was read to its end, and is not being read again. */
const ifKnown = ({ discoveredAt, status }: Import, more: { limit?: string } = {}) =>
  discoveredAt !== null && status !== 'discovering' ? { query: more } : undefined
const known =
  (more: { limit?: string } = {}) =>
  ({ params }: { params: Readonly<Record<string, string>> }, before: { import: Import }) => {
    const asked = ifKnown(before.import, more)
    return asked && { params, ...asked }
  }
const reads = {
  import: reading(getImport, ({ params }) => ({ params })),
  panels: panelsRead,
  mapping: ifNamed(getMapping, known()),
  plan: ifNamed(getPlan, known()),
  hypervisors: ifNamed(listMappedHypervisors, known({ limit: '20' })),
  changes: ifNamed(listChanges, known({ limit: '20' })),
}
export type ImportData = Answers<typeof reads>

export const importPage = page({
  path: '/admin/imports/{id}',
  reads,
  title: ({ import: of }) => titleOf(of),
  nav: 'imports',
  files: importFiles,
  view: (data) => <ImportPage {...data} />,
})

const stepOf = ({ asksFor, status, discoveredAt }: Import): StepName =>
  status === 'discovering' ? 'discover' : asksFor || discoveredAt === null ? 'connect' : 'decide'

function ImportPage({ import: of, panels, mapping, plan, hypervisors, changes }: ImportData) {
  const panel = panels.panels.find(({ kind }) => kind === of.kind)
  const isKnown = of.discoveredAt !== null && of.status !== 'discovering'
  return (
    <ImportFrame of={of} panel={panel} step={stepOf(of)} isWhole>
      {of.asksFor && <Certificate of={of} certificate={of.asksFor} />}
      {of.status === 'discovering' ? (
        <Reading of={of} />
      ) : (
        of.discoveredAt === null && !of.asksFor && <BeforeReading of={of} />
      )}
      {isKnown && mapping && plan && (
        <>
          <Counts of={of} />
          <div class="split">
            <div>
              <LeftToDecide of={of} />
              <Decided of={of} mapping={mapping} />
              {hypervisors && <Hypervisors of={of} hypervisors={hypervisors} />}
            </div>
            <div>
              {changes && changes.total > 0 && <SinceLastTime of={of} changes={changes} />}
              <WhatItWouldDo of={of} plan={plan} />
              {of.sent.requests > 0 && <SentThere of={of} />}
              <NotImported />
            </div>
          </div>
        </>
      )}
    </ImportFrame>
  )
}

const leftOutWords = ({ servers }: Import) => {
  const stay = servers['refused']! + servers['already_moved']!
  const words = [
    ...(servers['left_out'] ? [`${servers['left_out'].toLocaleString('en')} left out by you`] : []),
    ...(stay ? [`${stay.toLocaleString('en')} cannot come`] : []),
  ]
  return words.join(', ') || 'all of them'
}
const Counts = ({ of }: { of: Import }) => (
  <Stats>
    <Figure title="Servers" n={of.servers['total']!} words={`on ${of.panel}`} />
    <Figure title="Would come over" n={comingOf(of)} words={leftOutWords(of)} />
    <Figure
      title="Left to decide"
      n={of.left.decisions}
      words={of.left.decisions ? 'servers wait for it' : 'everything is decided'}
    />
    <Figure title="Their disks" n={gb(of.diskGb)} words={`as ${of.panel} counts`} />
  </Stats>
)

const readLists = [
  ['node', 'Hypervisors', 'names, addresses and bridges'],
  ['package', 'Packages', 'names and sizes'],
  ['pool', 'Address ranges', 'networks, gateways and addresses in use'],
  ['customers', 'Owners', 'names and e-mail addresses, no passwords'],
  ['server', 'Servers', 'names, sizes, addresses and owners'],
] as const
/** The lists that a reading reads, before it begins. */
const BeforeReading = ({ of }: { of: Import }) => (
  <Section
    id="before"
    title="Read the panel"
    first
    words={`Berth signs in to ${of.panel} and reads these lists. It sends requests that read, and can send no others.`}
  >
    <Points of={readLists} />
    <div class="bar">
      <Discover of={of} isPrimary />
      <span class="muted">{`Nothing is changed on ${of.panel}. ${count(400, 'server')} take minutes.`}</span>
    </div>
  </Section>
)

// The storage pools of a node.
import { getNode } from '../../../src/fleet/nodes/nodes.ts'
import { changeStoragePool } from '../../../src/fleet/storage-pools/change.ts'
import { FULL_PERCENT } from '../../../src/fleet/storage-pools/full.ts'
import { listStoragePools } from '../../../src/fleet/storage-pools/list.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { getStorageFill } from '../../../src/platform/metrics/fill.ts'
import { Edit } from '../../components/action.tsx'
import { Check, Field } from '../../components/field.tsx'
import { Meter } from '../../components/figures.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Facts, Note, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { For } from '../../components/time.tsx'
import { bytes, gb, sentence } from '../../components/words.ts'
import { NodeHead } from './frame.tsx'
import { awaySince, Stale } from './stale.tsx'

const reads = {
  node: reading(getNode, ({ params }) => ({ params })),
  pools: reading(listStoragePools, ({ params }) => ({ params })),
  fill: reading(getStorageFill, ({ params }) => ({ params })),
}
type Data = Answers<typeof reads>
type Pool = Data['pools']['data'][number]

export const nodeStoragePage = page({
  path: '/admin/nodes/{id}/storage',
  reads,
  title: ({ node }) => `Storage of ${node.name}`,
  nav: 'nodes',
  view: ({ node, pools, fill }) => (
    <Live id="node" every={4}>
      <NodeHead node={node} />
      {pools.data.length ? (
        pools.data.map((pool) => (
          <StoragePool
            of={pool}
            since={awaySince(node)}
            fill={fill.storagePools.find(({ id }) => id === pool.id)?.usedPercent}
          />
        ))
      ) : (
        <Empty title="No storage yet">
          The node reports its storage pools when it connects. Until then it takes no servers.
        </Empty>
      )}
    </Live>
  ),
})

const unknown = ['bad', 'away', 'Node away'] as const
const states: Record<Pool['state'], readonly [tone: Tone, shape: IconName, words: string]> = {
  open: ['ok', 'dot', 'Takes new servers'],
  closed: ['idle', 'hold', 'Closed for new servers'],
  full: ['bad', 'fail', 'Full'],
  missing: ['bad', 'fail', 'Missing'],
  silent: ['bad', 'fail', 'Does not answer'],
}

/** `since`: its node is away, and this is the last that it said. */
type PoolProps = { of: Pool; since: string | undefined; fill: readonly (number | null)[] | undefined }
const StoragePool = ({ of: p, since, fill = [] }: PoolProps) => {
  const [tone, shape, words] = since ? unknown : states[p.state]
  return (
    <Section
      id={`pool-${p.id}`}
      title={p.name}
      count={
        <State tone={tone} shape={shape} tag>
          {words}
        </State>
      }
      actions={<Change of={p} />}
    >
      <div class="in">
        <Trouble of={p} />
        <div class="cols">
          <Stale since={since}>
            <div class="stack">
              <Meters of={p} />
              <Graph of={p} values={fill} isCurrent={since === undefined} />
            </div>
          </Stale>
          <Facts
            of={[
              ['Class', p.class ?? 'None'],
              ['Kind', p.kind],
              ['Place', p.path && <code>{p.path}</code>],
              ['Size', bytes(p.totalBytes)],
              ['Overcommit limit', `${p.overcommitPercent} % (${gb(p.limitGb)})`],
              ['Largest new disk', gb(p.freeDiskGb)],
            ]}
          />
        </div>
      </div>
    </Section>
  )
}

const Trouble = ({ of: p }: { of: Pool }) => (
  <>
    {p.missingSince && (
      <Note level="bad">
        The node has not reported it <For iso={p.missingSince} />. Servers with a disk in it cannot be started or
        changed. Bring the storage back on the node.
      </Note>
    )}
    {p.state === 'silent' && (
      <Note level="bad">
        It has not answered {p.silentSince && <For iso={p.silentSince} />}. The figures are the last that are known.
        Servers with a disk in it may hang, and cannot be started or changed; it takes no new disks. See on the node
        what the storage lacks: once it answers, all goes on by itself.
      </Note>
    )}
    {p.state === 'full' && (
      <Note level="bad">
        {`From ${FULL_PERCENT} % on it takes no new disks, and servers pause at 100 %. Free or add space on it.`}
      </Note>
    )}
    {p.warnings.map((words) => (
      <Note level="warn">{sentence(words)}</Note>
    ))}
  </>
)

/** A bar is red above this share: as a pool is full from its limit on, it lies a little below. */
const FULL_FROM = (FULL_PERCENT - 0.1) / 100

const Meters = ({ of: p }: { of: Pool }) => (
  <>
    {p.freeBytes !== null && (
      <Meter
        label="Used"
        value={p.totalBytes - p.freeBytes}
        total={p.totalBytes}
        fullFrom={FULL_FROM}
        words={`${bytes(p.totalBytes - p.freeBytes)} of ${bytes(p.totalBytes)}`}
      />
    )}
    <Meter label="Allocated" value={p.heldDiskGb} total={p.limitGb} words={`${gb(p.heldDiskGb)} of ${gb(p.limitGb)}`} />
    {p.metadataPercent !== null && (
      <Meter
        label="Metadata"
        value={p.metadataPercent}
        total={100}
        fullFrom={FULL_FROM}
        words={`${Math.round(p.metadataPercent)} %`}
      />
    )}
  </>
)

const HEIGHT = 100

/** How full it was, with a line where it is full. */
type GraphProps = { of: Pool; values: readonly (number | null)[]; isCurrent: boolean }
function Graph({ of: p, values, isCurrent }: GraphProps) {
  const is = isCurrent ? 'now' : 'at last'
  const measured = values.flatMap((value, x) => (value === null ? [] : [[x, value] as const]))
  if (measured.length < 2) return <p class="muted">A graph appears here after some hours.</p>
  const highest = Math.round(Math.max(...measured.map(([, value]) => value)))
  const last = Math.round(measured.at(-1)![1])
  const [width, full] = [values.length - 1, HEIGHT - FULL_PERCENT]
  return (
    <figure>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        width="100%"
        height="64"
        fill="none"
        stroke="currentColor"
        role="img"
        aria-label={`How full ${p.name} was in the last 30 days: ${last} % ${is}, highest ${highest} %`}
      >
        <line
          x1="0"
          y1={full}
          x2={width}
          y2={full}
          stroke-dasharray="3 4"
          opacity="0.4"
          vector-effect="non-scaling-stroke"
        />
        <line x1="0" y1={HEIGHT} x2={width} y2={HEIGHT} opacity="0.4" vector-effect="non-scaling-stroke" />
        <polyline
          points={measured.map(([x, value]) => `${x},${HEIGHT - Math.min(HEIGHT, value)}`).join(' ')}
          stroke-width="2"
          vector-effect="non-scaling-stroke"
        />
      </svg>
      <figcaption class="muted">
        {`Used in the last 30 days: ${last} % ${is}, ${highest} % at most. The broken line is at ${FULL_PERCENT} %.`}
      </figcaption>
    </figure>
  )
}

const Change = ({ of: p }: { of: Pool }) => (
  <Edit
    op={changeStoragePool}
    params={{ id: p.id }}
    of={p.name}
    title={`Change the storage pool ${p.name}`}
    fields={
      <>
        <Check
          scope={p.id}
          name="open"
          label="Takes new servers"
          checked={p.open}
          hint="Servers with a disk in it stay, and can grow, when it is closed."
        />
        <Field
          scope={p.id}
          name="overcommitPercent"
          label="Overcommit limit"
          as="number"
          unit="% of its size"
          required
          value={p.overcommitPercent}
          hint="Above 100, disks can grow to more than there is: watch how full it is, and add space in time."
        />
      </>
    }
  />
)

import { changeImage, listImageBuilds } from '../../../src/catalog/images/images.ts'
import { refreshImage } from '../../../src/catalog/images/refresh.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Copyable, Facts, Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'

const reads = { its: reading(listImageBuilds, ({ params }) => ({ params })) }
type Data = Answers<typeof reads>['its']
type Image = Data['image']
type Build = Data['builds'][number]

export const imagePage = page({
  path: '/admin/images/{id}',
  reads,
  title: ({ its }) => its.image.name,
  nav: 'images',
  view: ({ its: { image, builds } }) => (
    <>
      <Head
        title={image.name}
        trail={[['Images', '/admin/images']]}
        actions={<LookForBuild of={image} />}
        sub={<span>{image.catalogueId ? 'From the catalogue' : 'Imported'}</span>}
      />
      {image.checkFailure && (
        <Note level="warn">
          <strong>New builds are not found.</strong> {image.checkFailure}
        </Note>
      )}
      <Section id="image" title="Image">
        <Facts
          of={[
            ['Image id', <Copyable text={image.id} what="image id" />],
            ...(image.catalogueId
              ? [['Distribution asked', image.checkedAt ? <Time iso={image.checkedAt} /> : 'Not yet'] as const]
              : []),
            ['Verified', image.verification.words],
            ...(image.verification.signedAt
              ? [['List signed', <Time iso={image.verification.signedAt} />] as const]
              : []),
          ]}
        />
      </Section>
      <Section
        id="builds"
        title="Builds"
        words={
          image.catalogueId
            ? 'Its distribution publishes a new build every few weeks. Berth asks every six hours, and when a ' +
              'node finds another file. Orders use the newest; existing servers stay as they are.'
            : 'An imported image is one file, which does not change.'
        }
      >
        <Table label="Builds" rows={builds} columns={columns} idOf={(b) => b.checksum} />
      </Section>
    </>
  ),
})

/** Nothing for images that come from no distribution, and for readers who may only look. */
export const LookForBuild = ({ of: i, inMenu }: { of: Image; inMenu?: true }) =>
  i.catalogueId && useAt().may(changeImage) ? (
    <Action
      op={refreshImage}
      params={{ id: i.id }}
      label="Look for a new build"
      of={i.name}
      {...(inMenu && { inMenu })}
      done={`${i.name} is the newest build`}
    />
  ) : null

const verifiedBy: Record<Build['verification']['by'], string> = {
  signature: 'Signature',
  https: 'HTTPS only',
  import: 'At import',
}

const columns: readonly Column<Build>[] = [
  {
    title: 'Build',
    kind: 'name',
    width: 30,
    cell: (b) => (
      <>
        <code title={b.checksum}>{`${b.checksum.slice(0, 19)}…`}</code>
        <small title={b.url}>{b.url.split('/').at(-1)}</small>
      </>
    ),
  },
  {
    title: 'State',
    kind: 'state',
    width: 14,
    cell: (b) =>
      b.current ? (
        <State tone="ok" shape="dot">
          Current
        </State>
      ) : (
        <State tone="idle" shape="hold">
          Earlier
        </State>
      ),
  },
  {
    title: 'Verified',
    kind: 'mid',
    width: 16,
    cell: (b) => <span title={b.verification.words}>{verifiedBy[b.verification.by]}</span>,
  },
  { title: 'Found', kind: 'a', width: 16, cell: (b) => <Time iso={b.foundAt} /> },
  { title: 'Size', kind: 'mid', num: true, width: 10, cell: (b) => (b.sizeBytes ? bytes(b.sizeBytes) : '–') },
  { title: 'Servers', kind: 'b', num: true, width: 14, cell: (b) => count(b.servers, 'server') },
]

// Rolling a server back: what it costs, and its name to be typed.
import { getImport } from '../../../src/imports/imports/imports.ts'
import { getImportServer } from '../../../src/imports/mapping/servers.ts'
import { previewRollBack, rollBack } from '../../../src/imports/roll-back/operations.ts'
import { type Answers, ifNamed, orRefused, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { CallForm, TypeToConfirm } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { Exact } from '../../components/time.tsx'
import { bytes, count, list } from '../../components/words.ts'
import { Points } from '../imports/points.tsx'
import { type Import, importFiles, importsTrail, titleOf } from '../imports/words.tsx'
import type { SourceServer } from '../mapping/servers.tsx'

const reads = {
  server: reading(getImportServer, ({ params }) => ({ params })),
  import: ifNamed(getImport, (_, before: { server: SourceServer }) => ({ params: { id: before.server.importId } })),
  preview: orRefused(previewRollBack, ({ params }) => ({ params })),
}
type Data = Answers<typeof reads>
type Preview = Exclude<Data['preview'], { refused: unknown }>

export const rollBackPage = page({
  path: '/admin/import-servers/{id}/roll-back',
  reads,
  title: ({ server }) => `Roll ${server.hostname} back`,
  nav: 'imports',
  files: importFiles,
  // Everybody who sees the server sees its import.
  view: ({ import: of, ...data }) => <RollBackPage {...data} of={of!} />,
})

function RollBackPage({ of, server, preview }: Omit<Data, 'import'> & { of: Import }) {
  return (
    <>
      <Head
        title={`Roll ${server.hostname} back?`}
        trail={[
          ...importsTrail,
          [titleOf(of), `/admin/imports/${of.id}`],
          ['Verify', `/admin/imports/${of.id}/verify`],
        ]}
        sub={<span>Possible until you finish this import</span>}
      />
      {'refused' in preview ? (
        <Empty
          title="It cannot be rolled back"
          action={
            <Link class="btn" to="/admin/imports/{id}/verify" params={{ id: of.id }}>
              Back to Verify
            </Link>
          }
        >
          {preview.refused.message}
        </Empty>
      ) : (
        <Costs of={of} preview={preview} />
      )}
    </>
  )
}

function Costs({ of, preview: p }: { of: Import; preview: Preview }) {
  const { params } = useAt()
  return (
    <>
      {p.isPossible ? (
        <Loss preview={p} />
      ) : (
        <Note level="warn">
          <strong>It cannot be rolled back now.</strong> {p.reason}
        </Note>
      )}
      <Section id="costs" title="What happens" first>
        <Points of={pointsOf(p)} />
        {p.isPossible && of.actions.includes('roll-back') && (
          <CallForm
            op={rollBack}
            params={params}
            body={{ hostname: p.hostname }}
            done={`${p.hostname} is rolled back`}
            leadsTo="/admin/jobs/{jobId}"
            class="start"
          >
            <TypeToConfirm id="roll-back-name" text={p.hostname} />
            <p class="muted">If you signed in more than 10 minutes ago, you confirm first that it is you.</p>
            <div class="bar end">
              <Link class="btn" to="/admin/imports/{id}/verify" params={{ id: of.id }}>
                Keep it here
              </Link>
              <button class="btn pri bad" disabled data-gated="">
                <Icon name="restart" />
                Roll back
              </button>
            </div>
          </CallForm>
        )}
      </Section>
    </>
  )
}

/** An adopted server keeps its disk; a copy ends. */
const Loss = ({ preview: p }: { preview: Preview }) =>
  p.way === 'adopt' ? (
    <Note level="warn">
      <strong>Nothing that it has written is lost.</strong> Its disk goes back as it is now: it was adopted, not copied.
    </Note>
  ) : (
    <Note level="bad">
      <strong>
        {p.since ? (
          <>
            Everything written since <Exact iso={p.since} /> is lost.
          </>
        ) : (
          'Everything that it has written here is lost.'
        )}
      </strong>{' '}
      {p.bytesWritten !== null && p.bytesWritten > 0 && `Its system has written about ${bytes(p.bytesWritten)}. `}
      The source has the disk as it was before.
    </Note>
  )

const pointsOf = (p: Preview) => {
  const gone = p.returnedAddresses
  return [
    [
      'trash',
      p.way === 'copy' ? `The copy on ${p.node} is removed` : `${p.node} gives its disk back`,
      p.backups
        ? `${count(p.backups, 'backup')} of it ${p.backups === 1 ? 'is' : 'are'} kept here for ` +
          `${count(p.backupsKeptDays, 'day')}.`
        : 'It has no backups here.',
    ],
    [
      'play',
      p.starts ? `The original starts on ${p.hypervisor}` : `The original is on ${p.hypervisor}, off as before`,
      'From the definition that was kept before it was shut down there.',
    ],
    ...(gone.length
      ? ([
          [
            'history',
            `${list(gone)} ${gone.length === 1 ? 'returns to its pool' : 'return to their pools'}`,
            p.oldAddresses.length
              ? `It answers at ${list(p.oldAddresses)} again.`
              : 'The other panel knows no address of it.',
          ],
        ] as const)
      : []),
    ['webhook', 'Billing is told', 'server.terminated, with imported: true.'],
  ] as const
}

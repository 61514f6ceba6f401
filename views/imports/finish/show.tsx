// Finishing an import: what that ends, which hypervisor is next, and what the import did.
import { cleanUpAgain, getCleanUps } from '../../../src/imports/clean-up/operations.ts'
import { finishImport, previewFinish } from '../../../src/imports/finish/finish.ts'
import { getFleet } from '../../../src/imports/fleet/fleet.ts'
import { getImport } from '../../../src/imports/imports/imports.ts'
import { getImportProgress } from '../../../src/imports/migrate/list.ts'
import { exportReport } from '../../../src/imports/report/report.ts'
import { billingSystemNames, billingSystems, scriptOperations } from '../../../src/imports/report/scripts.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Download } from '../../components/list.tsx'
import { Live } from '../../components/live.tsx'
import { Command, Facts, Note, Section } from '../../components/section.tsx'
import { howLong, Moment } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'
import { duration } from '../../compute/transfers/words.tsx'
import { ImportFrame, toMoveOf } from '../imports/frame.tsx'
import { Points } from '../imports/points.tsx'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'

const reads = {
  import: reading(getImport, ({ params }) => ({ params })),
  preview: reading(previewFinish, ({ params }) => ({ params })),
  fleet: reading(getFleet, ({ params }) => ({ params })),
  progress: reading(getImportProgress, ({ params }) => ({ params })),
  cleanUps: reading(getCleanUps, ({ params }) => ({ params })),
}
type Data = Answers<typeof reads>
type Preview = Data['preview']

export const finishPage = page({
  path: '/admin/imports/{id}/finish',
  reads,
  title: ({ import: of }) => `Finish ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <FinishPage {...data} />,
})

const FinishPage = ({ import: of, preview, fleet, progress, cleanUps }: Data) => (
  <ImportFrame of={of} step="finish" isWhole actions={<FinishAction of={of} preview={preview} />}>
    {of.status !== 'finished' && preview.openChecks > 0 && (
      <Note
        level="warn"
        action={
          <Link class="btn" to="/admin/imports/{id}/verify" params={{ id: of.id }} query={{ result: 'open' }}>
            Open Verify
          </Link>
        }
      >
        <strong>{openWords(preview.openChecks)}</strong> Afterwards none of them can be rolled back.
      </Note>
    )}
    <div class="split">
      <div>
        {of.status === 'finished' ? (
          <Live id="clean-up-state" every={cleanUps.isDone ? undefined : 5} class="">
            <CleanUps of={of} cleanUps={cleanUps} />
          </Live>
        ) : (
          <Section id="finish" title="Finish this import">
            <Points of={endsOf(of, preview)} />
            {preview.reason && <p class="hint">{preview.reason}</p>}
          </Section>
        )}
        {progress.servers.total > 0 && <ForBilling of={of} moved={progress.servers.moved} />}
      </div>
      <div>
        <NextHypervisor fleet={fleet} />
        <WhatItDid of={of} progress={progress} />
      </div>
    </div>
  </ImportFrame>
)

/** The files with which a billing system goes on with the servers that have moved. */
const ForBilling = ({ of, moved }: { of: Import; moved: number }) => (
  <Section id="billing" title="For your billing system" count={count(moved, 'server has moved', 'servers have moved')}>
    <p>
      The report names for every server its id there and here, its product, its owner and what is to be done. A script
      switches the services of one billing system to Berth; it only looks until you let it change something, and it can
      be undone.
    </p>
    <div class="bar wrap">
      <Download op={exportReport} params={{ id: of.id }} label="Report as CSV" query={{}} />
      {scriptOperations.map((op, n) => (
        <Download
          op={op}
          params={{ id: of.id }}
          label={`Script for ${billingSystems[billingSystemNames[n]!].label}`}
          query={{}}
        />
      ))}
    </div>
  </Section>
)

const openWords = (n: number) => `${count(n, 'server')} ${n === 1 ? 'has' : 'have'} an open check.`
const stayWords = ({ refused, leftOut, failed, waiting }: Preview['stays']) =>
  [
    refused && `${refused.toLocaleString('en')} cannot be imported`,
    leftOut && `${leftOut.toLocaleString('en')} left out`,
    failed && `${failed.toLocaleString('en')} failed or rolled back`,
    waiting && `${waiting.toLocaleString('en')} not begun`,
  ]
    .filter(Boolean)
    .join(', ')

type Point = readonly [icon: IconName, title: string, words: string]
function endsOf(of: Import, p: Preview): Point[] {
  const stay = Object.values(p.stays).reduce((sum, n) => sum + n, 0)
  return [
    [
      'key',
      p.hasCredentials ? `The credentials of ${of.panel} are deleted` : `No credentials of ${of.panel} are stored`,
      'From the database, and from every backup of the controller that is made afterwards.',
    ],
    [
      'history',
      'Rolling back ends',
      p.canGoBack
        ? `${count(p.canGoBack, 'server')} can still go back today. After this, only from a backup.`
        : 'No server can go back today.',
    ],
    [
      'server',
      stay ? `${count(stay, 'server stays', 'servers stay')} on ${of.panel}` : `Nothing stays on ${of.panel}`,
      stay ? `${stayWords(p.stays)}. A new import can take them.` : 'Every server of this import has moved.',
    ],
    [
      'lock',
      p.keys.hypervisors || p.definitions ? 'Keys and kept definitions are removed' : 'Nothing is left on hypervisors',
      [
        p.keys.hypervisors &&
          `Keys of ${count(p.keys.nodes, 'node')} are removed on ${count(p.keys.hypervisors, 'hypervisor')}.`,
        p.definitions &&
          `${count(p.definitions, 'kept definition')} ${p.definitions === 1 ? 'is' : 'are'} deleted there.`,
      ]
        .filter(Boolean)
        .join(' ') || 'No keys of nodes and no kept definitions are there.',
    ],
  ]
}

const FinishAction = ({ of, preview }: { of: Import; preview: Preview }) =>
  of.status === 'finished' ? null : (
    <Action
      op={finishImport}
      params={{ id: of.id }}
      body={{ confirm: true }}
      label="Finish import"
      icon="check"
      tone="pri"
      disabledReason={preview.reason ?? undefined}
      title={`Finish ${titleOf(of)}?`}
      done={`${titleOf(of)} is finished`}
      confirm={{
        keep: 'Not yet',
        consequences: endsOf(of, preview).map(([, title, words]) => (
          <>
            <b>{title}.</b> {words}
          </>
        )),
      }}
    />
  )

const appearances = {
  now: ['now', undefined],
  done: ['done', ' (done)'],
  next: ['', undefined],
  later: ['', undefined],
  last: ['', undefined],
  stays: ['', undefined],
} as const

/** The order in which hypervisors are moved, and what must not be removed yet. */
const NextHypervisor = ({ fleet }: { fleet: Data['fleet'] }) => (
  <Section id="fleet" title="Hypervisors, in their order">
    {fleet.hypervisors.length ? (
      <ol class="steps">
        {fleet.hypervisors.map(({ name, turn, words, keep }) => (
          <li class={appearances[turn][0] || undefined}>
            <span>
              {name}
              {appearances[turn][1] && <span class="sr">{appearances[turn][1]}</span>}
            </span>
            <small>
              {words}
              {keep.length > 0 && ` Do not remove its panel software yet. ${keep.join(' ')}`}
            </small>
          </li>
        ))}
      </ol>
    ) : (
      <p class="muted">The other panel has no hypervisors.</p>
    )}
  </Section>
)

const WhatItDid = ({ of, progress: p }: { of: Import; progress: Data['progress'] }) => (
  <Section id="did" title="What this import did">
    <Facts
      of={[
        ['Moved', `${p.servers.moved.toLocaleString('en')} of ${toMoveOf(of).toLocaleString('en')}`],
        ['Copied', p.bytesCopied > 0 && bytes(p.bytesCopied)],
        ['Took', p.startedAt && p.migratedAt && howLong(p.startedAt, p.migratedAt, 0)],
        ['Median downtime', p.medianDowntimeMs !== null && duration(p.medianDowntimeMs / 1000)],
        ['Longest', p.longestDowntimeMs !== null && duration(p.longestDowntimeMs / 1000)],
        ['Not longer than announced', p.announced > 0 && `${p.announcedKept} of ${p.announced}`],
        ['Failed', p.servers.failed || null],
        ['Rolled back', p.servers.rolledBack || null],
        ['Finished', of.endedAt && <Moment iso={of.endedAt} />],
      ]}
    />
  </Section>
)

const cleanUpWords = {
  waiting: 'It is tried by itself until it is done, for a week.',
  done: 'Nothing is left there.',
  given_up: 'It was tried for a week. Run the commands there as root.',
} as const
/** The removal of keys and definitions, once the import is finished. */
const CleanUps = ({ of, cleanUps: { hypervisors, isDone } }: { of: Import; cleanUps: Data['cleanUps'] }) => (
  <Section
    id="clean-ups"
    title="Left on hypervisors"
    count={isDone ? 'nothing any more' : 'being removed'}
    actions={
      !isDone && (
        <Action
          op={cleanUpAgain}
          params={{ id: of.id }}
          label="Try again now"
          icon="refresh"
          small
          done="It is tried"
        />
      )
    }
  >
    {hypervisors.length ? (
      <ul class="rows wrap">
        {hypervisors.map((one) => (
          <li>
            <Icon name={one.state === 'done' ? 'tick' : one.state === 'given_up' ? 'fail' : 'wait'} />
            <div class="grow">
              <b>{one.name}</b>
              <small>
                {cleanUpWords[one.state]} {one.words}
                {one.definitionsRemoved + one.keysRemoved > 0 &&
                  ` ${count(one.definitionsRemoved, 'definition')} and ${count(one.keysRemoved, 'key')} removed.`}
              </small>
              {one.state !== 'done' && one.commands.length > 0 && (
                <Command text={one.commands.join('\n')} what={`the commands for ${one.name}`} />
              )}
            </div>
          </li>
        ))}
      </ul>
    ) : (
      <p class="muted">This import had left nothing there.</p>
    )}
  </Section>
)

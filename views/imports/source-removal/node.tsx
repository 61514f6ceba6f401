// One adopted node: what a removal touches there, what it never touches, and what a person does by hand.
import { chooseSourceRemoval, exportSourceRemoval } from '../../../src/imports/source-removal/choose.ts'
import { runRemoval, runRestore } from '../../../src/imports/source-removal/remove.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, pathOf } from '../../components/action.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { here } from '../../components/live.tsx'
import { Note, Section } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import type { Import } from '../imports/words.tsx'
import { type Removal, sumOf, undefinedBridges } from './words.ts'

type Item = NonNullable<Removal['preview']>['items'][number]
const itemColumns: readonly Column<Item>[] = [
  { title: 'What', kind: 'name', width: 40, cell: ({ name }) => <b class="mono">{name}</b> },
  { title: 'Now', kind: 'a', width: 22, cell: ({ now }) => now },
  { title: 'Becomes', kind: 'b', width: 38, cell: ({ becomes }) => <span class="why">{becomes}</span> },
]
const leftColumns: readonly Column<{ name: string; why: string }>[] = [
  { title: 'What', kind: 'name', width: 40, cell: ({ name }) => <b class="mono">{name}</b> },
  { title: 'Why it stays', kind: 'wide', width: 60, cell: ({ why }) => <span class="why">{why}</span> },
]

/** Before a removal all that it would touch; after it, all that it has touched. */
export function Touched({ of, removal }: { of: Import; removal: Removal }) {
  const { node, preview, previewProblem, result, state } = removal
  const isDone = state === 'removed' && result !== null
  const items = isDone ? result.items : (preview?.items ?? [])
  const left = isDone ? result.left : (preview?.left ?? [])
  return (
    <>
      <Section
        id="touched"
        title={isDone ? `${node.name}: what was touched` : `${node.name}: what would be touched`}
        count={sumOf(items) || undefined}
        actions={<Csv of={of} removal={removal} />}
        flush
      >
        {items.length ? (
          <Table label={`Files and services on ${node.name}`} rows={items} columns={itemColumns} />
        ) : (
          <p class="muted in-rows">{previewProblem ?? 'Nothing of the other panel was found.'}</p>
        )}
      </Section>
      {left.length > 0 && (
        <Section id="left" title="Stays" count={count(left.length, 'thing')} flush>
          <Table label={`Left alone on ${node.name}`} rows={left} columns={leftColumns} />
        </Section>
      )}
    </>
  )
}

function Csv({ of, removal: { node, preview } }: { of: Import; removal: Removal }) {
  if (!useAt().may(exportSourceRemoval) || !preview) return null
  return (
    <a class="btn s" href={`${pathOf(exportSourceRemoval, { id: of.id })}?nodeId=${node.id}`} download>
      <Icon name="download" />
      CSV
    </a>
  )
}

type NeverProps = { of: Import; removal: Removal; words: string; isAsked: boolean }
export const NeverTouched = ({ of, removal, words, isAsked }: NeverProps) => (
  <Section id="never" title="Never touched">
    <div class="stack">
      <p>{words}</p>
      {removal.warnings.map((one) => (
        <Note level="warn">{one.words}</Note>
      ))}
      {removal.blocked.map((one) => (
        <Note level="bad">{one}</Note>
      ))}
      {removal.jobId && (
        <p>
          <Link to="/admin/jobs/{jobId}" params={{ jobId: removal.jobId }}>
            The job with its log
          </Link>
        </p>
      )}
      {isAsked && <Buttons of={of} removal={removal} />}
    </div>
  </Section>
)

function Buttons({ of, removal }: { of: Import; removal: Removal }) {
  const { node, choice, state, blocked, preview, canRestore } = removal
  const isAtWork = state === 'removing' || state === 'restoring'
  const running = preview?.runningServers ?? removal.servers
  return (
    <div class="bar">
      {canRestore && (
        <Action
          op={runRestore}
          params={{ id: of.id }}
          body={{ nodeId: node.id }}
          label="Put everything back…"
          of={`on ${node.name}`}
          icon="history"
          title={`Put the other panel back on ${node.name}?`}
          submit="Put it back"
          done="It is being put back"
          confirm={{
            keep: 'Not now',
            consequences: [
              'Folders, cron jobs and services return as they were; services that ran before start again.',
              'What was changed at the same places since stays, and is named in the log of the job.',
            ],
          }}
        />
      )}
      {choice === 'agent' && state !== 'removed' && !isAtWork && (
        <Action
          op={runRemoval}
          params={{ id: of.id }}
          body={{ nodeId: node.id }}
          label={`Remove from ${node.name}…`}
          icon="unplug"
          tone="pri"
          disabledReason={
            blocked[0] ??
            (preview ? preview.items.length === 0 && 'Nothing of it was found' : 'The node does not answer')
          }
          title={`Remove the other panel’s software from ${node.name}?`}
          submit="Remove it"
          done="It is being removed"
          confirm={{
            keep: 'Not now',
            consequences: [
              `${sumOf(preview?.items ?? [])} are stopped or moved into a folder below /root.`,
              `${count(running, 'server')} keep running. If one or its bridge is gone, everything is put back.`,
              'Nothing is deleted, and all of it can be put back later.',
            ],
          }}
        />
      )}
      {choice === 'agent' && state !== 'removed' && <span class="muted">servers keep running</span>}
    </div>
  )
}

const Lines = ({ text, what }: { text: string; what: string }) => (
  <>
    <div class="command lines">
      <code>{text}</code>
    </div>
    <div class="bar">
      <button type="button" class="btn s" data-copy={text} aria-label={`Copy commands for ${what}`}>
        <Icon name="copy" />
        Copy commands
      </button>
      <a class="btn s" href={here(useAt())}>
        <Icon name="refresh" />
        Look again
      </a>
    </div>
  </>
)

/** The definitions of bridges that are missing, and the whole removal where a person has chosen to do it. */
export function ByHand({ removal }: { removal: Removal }) {
  const { node, choice, preview } = removal
  const missing = undefinedBridges(removal)
  return (
    <>
      {missing.map(({ name, servers, why, settings, commands }) => (
        <Section id={`bridge-${name}`} title={`${node.name}: ${name} by hand first`}>
          <div class="stack">
            <p>
              {why[0]!.toUpperCase() + why.slice(1)}.
              {commands && ` These lines write ${name} into ${settings}, and keep a copy of the settings before. `}
              {commands && 'They take effect at the next boot.'}
            </p>
            {commands && <Lines text={commands} what={name} />}
            {settings === 'netplan' && (
              <div class="tip warn">
                <Icon name="warning" />
                <span>
                  Do not run <code>netplan try</code> or <code>netplan apply</code>: they cut the bridge off from{' '}
                  {count(servers, 'server')}.
                </span>
              </div>
            )}
          </div>
        </Section>
      ))}
      {choice === 'manual' && preview?.commands && (
        <Section id="commands" title={`${node.name}: the commands, as root`}>
          <div class="stack">
            <p>They move and stop what is listed, and delete nothing. Stop them at the first error.</p>
            <Lines text={preview.commands} what={node.name} />
          </div>
        </Section>
      )}
    </>
  )
}

type RootKey = NonNullable<Removal['preview']>['rootKeys'][number]
const KEY_WORDS = {
  solusvm2:
    'The line of the control server is taken out where exactly one can be its own. Another one is never decided on.',
  virtualizor: 'To compare: nothing is decided about them. A key that nobody knows is worth a question.',
} as const

/** The keys of root there. Of SolusVM 2 a person can say which is the control server's. */
export function RootKeys({ of, removal, isAsked }: { of: Import; removal: Removal; isAsked: boolean }) {
  const { node, preview, controlKey, choice } = removal
  if (!preview?.rootKeys.length) return null
  const canName = isAsked && of.kind === 'solusvm2'
  const name = ({ fingerprint, isOurs, comment }: RootKey) =>
    fingerprint === controlKey ? (
      <span>the control server’s</span>
    ) : isOurs ? (
      <span class="muted">Berth’s</span>
    ) : canName ? (
      <Action
        op={chooseSourceRemoval}
        params={{ id: of.id }}
        body={{ nodeId: node.id, choice: choice ?? 'keep', controlKey: fingerprint }}
        label="It is the control server’s"
        of={comment || fingerprint}
        small
        done="Saved"
      />
    ) : null
  const columns: readonly Column<RootKey>[] = [
    {
      title: 'Key',
      kind: 'name',
      width: 62,
      cell: ({ comment, fingerprint }) => (
        <>
          <b>{comment || 'without a comment'}</b>
          <small class="mono">{fingerprint}</small>
        </>
      ),
    },
    { title: 'Whose', kind: 'wide', width: 38, cell: name },
  ]
  const words = of.kind === 'solusvm2' ? KEY_WORDS.solusvm2 : KEY_WORDS.virtualizor
  return (
    <Section id="keys" title="Keys of root" count={count(preview.rootKeys.length, 'key')} words={words} flush>
      <Table label={`Keys of root on ${node.name}`} rows={preview.rootKeys} columns={columns} />
    </Section>
  )
}

export const Checked = ({ removal: { servers, preview } }: { removal: Removal }) => (
  <Section id="checked" title="Afterwards it is checked">
    <ol class="steps do">
      <li>
        <span>All {count(preview?.runningServers ?? servers, 'server')} still run</span>
      </li>
      <li>
        <span>Their bridges exist</span>
      </li>
      <li>
        <span>Else: everything is put back</span>
        <small>at once, and the import says so</small>
      </li>
    </ol>
  </Section>
)

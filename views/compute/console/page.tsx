// The console of a server: its screen or its serial line. public/console draws what comes from the server.
import type { AssetName } from '../../../public/assets.ts'
import { createConsoleTicket } from '../../../src/compute/console/create-ticket.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt, usePageContext } from '../../../src/kernel/web/page-context.ts'
import { pathOf } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Icon, type IconName } from '../../components/icon.tsx'
import { Empty, Note } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { ServerFrame, serverReads } from '../servers/frame.tsx'
import { disabledReason, type Server } from '../servers/words.ts'

const reads = {
  ...serverReads,
}
type InArea = Answers<typeof reads> & { area: Area }

export const consolePages = inEveryArea({
  path: '/servers/{id}/console',
  reads,
  title: ({ server }) => `Console of ${server.name}`,
  nav: 'servers',
  files: ['console.css', 'xterm.css', 'console.mjs'] satisfies AssetName[],
  madeStyles: true,
  view: (data, area) => (
    <ServerFrame {...data} area={area}>
      <section class="sec first" aria-labelledby="console-t">
        <h2 id="console-t" class="sr">
          Console
        </h2>
        <Body {...data} area={area} />
      </section>
    </ServerFrame>
  ),
})

/** Keyboards that can be set in a server, by the names of public/console/layouts.js. */
export const keyboards = { us: 'English (US)', uk: 'English (UK)', de: 'Deutsch', fr: 'Français' } as const

/** States in which there is nothing to connect to until somebody has acted elsewhere. */
const closedIn: readonly Server['status'][] = ['pending_setup', 'suspended', 'terminated']

function Body({ server: s, area }: InArea) {
  const at = useAt()
  if (!at.may(createConsoleTicket))
    return (
      <Empty>
        {at.actor.via.type === 'support'
          ? 'A support session has no console.'
          : 'The console is for those who may start and stop the server. Ask its owner.'}
      </Empty>
    )
  if (closedIn.includes(s.status) || s.locked)
    return <Note level="warn">There is no console now. {disabledReason({ ...s, job: null }, 'console')}</Note>
  return <Console server={s} area={area} kind={at.query['kind'] === 'serial' ? 'serial' : 'vnc'} />
}

const kinds = { vnc: 'Screen', serial: 'Serial line' } as const
type Kind = keyof typeof kinds
const viewers: Record<Kind, AssetName> = { vnc: 'console-screen.mjs', serial: 'console-serial.mjs' }

function Console({ server: s, area, kind }: { server: Server; area: Area; kind: Kind }) {
  const { asset } = usePageContext()
  return (
    <div
      class={`console kept ${kind}`}
      id="console"
      data-console={pathOf(createConsoleTicket, { id: s.id })}
      data-kind={kind}
      data-name={s.name}
      data-viewer={asset(viewers[kind])}
    >
      <Toolbar server={s} area={area} kind={kind} />
      <div class="frame">
        <div
          class="stage"
          data-stage=""
          tabIndex={0}
          role="application"
          aria-label={`${kinds[kind]} of ${s.name}. Keys go to the server; Ctrl, Alt and Shift give them back.`}
        />
        <div class="veil" data-veil="">
          <p data-words="" role="status">
            Connecting…
          </p>
          <button type="button" class="btn" data-deed="connect" data-connect="" hidden>
            Connect now
          </button>
        </div>
        {kind === 'vnc' && (
          <input class="phone" data-phone="" aria-label={`Keys for ${s.name}`} autocomplete="off" tabIndex={-1} />
        )}
      </div>
      <div class="bar foot">
        <span class="n" data-figures="" />
        <span class="grow" />
        <span>
          Keys go to the server. <kbd>Ctrl</kbd> <kbd>Alt</kbd> <kbd>Shift</kbd> together give them back.
        </span>
      </div>
      <TypeText kind={kind} />
    </div>
  )
}

function Toolbar({ server: s, area, kind }: { server: Server; area: Area; kind: Kind }) {
  const page = `${area}/servers/${s.id}/console`
  return (
    <div class="bar" role="toolbar" aria-label="Console">
      <span data-when="connecting">
        <State tone="work" shape="work" tag>
          Connecting
        </State>
      </span>
      <span data-when="connected" hidden>
        <State tone="ok" shape="tick" tag>
          Connected
        </State>
      </span>
      <span data-when="closed" hidden>
        <State tone="idle" shape="away" tag>
          Not connected
        </State>
      </span>
      <nav class="kind" aria-label="Kind of console">
        {(Object.keys(kinds) as Kind[]).map((one) => (
          <a
            class="btn s"
            href={one === 'vnc' ? page : `${page}?kind=${one}`}
            aria-current={one === kind ? 'page' : undefined}
            data-first={one === kind ? '' : undefined}
          >
            {kinds[one]}
          </a>
        ))}
      </nav>
      <span class="grow" />
      <button type="button" class="btn s" data-deed="stop-typing" hidden>
        Stop typing
      </button>
      {kind === 'vnc' ? (
        <>
          <Deed name="ctrl-alt-del" icon="keyboard" label="Ctrl Alt Del" connected />
          <button type="button" class="btn s" data-deed="phone-keys" data-phone-keys="">
            <Icon name="keyboard" />
            <span>Keys</span>
          </button>
        </>
      ) : (
        <Deed name="fit" icon="terminal" label="Fit size" connected />
      )}
      <button type="button" class="btn s" data-dialog="type-text" data-needs-connection="" disabled>
        <Icon name="paste" />
        <span>Paste text…</span>
      </button>
      {kind === 'vnc' && (
        <label class="layout">
          <span class="sr">Keyboard of the server, for text that is pasted</span>
          <select data-layout="">
            {Object.entries(keyboards).map(([value, name]) => (
              <option value={value}>{name}</option>
            ))}
          </select>
        </label>
      )}
      <Deed name="full-screen" icon="maximize" label="Full screen" />
    </div>
  )
}

type DeedProps = { name: string; icon: IconName; label: string; connected?: true }
/** A button of public/console. `connected`: only while the console is. */
const Deed = ({ name, icon, label, connected }: DeedProps) => (
  <button
    type="button"
    class="btn s"
    data-deed={name}
    data-needs-connection={connected && ''}
    disabled={connected ?? false}
  >
    <Icon name={icon} />
    <span>{label}</span>
  </button>
)

const TypeText = ({ kind }: { kind: Kind }) => (
  <dialog id="type-text" aria-labelledby="type-text-t" data-text-dialog="">
    <form method="dialog" class="stack">
      <h2 id="type-text-t">Paste text</h2>
      <p class="muted">
        {kind === 'vnc'
          ? 'It is typed key by key, for the keyboard that is chosen beside this button.'
          : 'It is sent as it is, without escape characters.'}
      </p>
      <div class="f">
        <label for="type-text-in">Text</label>
        <textarea id="type-text-in" rows={6} maxLength={10_000} spellcheck={false} autocomplete="off" />
      </div>
      <p role="alert" class="bad" />
      <div class="bar end">
        <button type="button" class="btn" data-close="">
          Cancel
        </button>
        <button class="btn pri">Type</button>
      </div>
    </form>
  </dialog>
)

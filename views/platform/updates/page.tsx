// The version of the controller, the release that is there, and updates of the past.
import type { AssetName } from '../../../public/assets.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { checkUpdate } from '../../../src/platform/updates/check.ts'
import { getUpdates } from '../../../src/platform/updates/show.ts'
import { startUpdate } from '../../../src/platform/updates/start.ts'
import { Action } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Live } from '../../components/live.tsx'
import { Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Time } from '../../components/time.tsx'
import { Agents } from './agents.tsx'
import { Findings } from './findings.tsx'
import { History } from './history.tsx'
import { Progress } from './progress.tsx'
import { NoRelease, ReleaseFacts } from './release.tsx'
import { Sources } from './sources.tsx'
import type { Updated } from './updated.ts'

/** While something is under way, and when nothing is. */
const [SOON_S, LATER_S] = [2, 15]

export const updatesPage = page({
  path: '/admin/controller/updates',
  reads: { updates: getUpdates },
  title: 'Updates',
  nav: 'controller',
  files: ['moves.css', 'release-file.mjs'] satisfies AssetName[],
  view: ({ updates }) => (
    <Live id="updates" every={isBusy(updates) ? SOON_S : LATER_S}>
      <UpdatesHead updates={updates} />
      {updates.upgrade && <Progress upgrade={updates.upgrade} />}
      <div class="split">
        <div>
          <Available updates={updates} />
          {updates.check?.version === updates.available && updates.check && <Findings check={updates.check} />}
          {updates.history.length > 0 && <History rows={updates.history} />}
        </div>
        <div>
          <Agents updates={updates} />
          <Sources updates={updates} />
          <IfWrong />
        </div>
      </div>
    </Live>
  ),
})

const isBusy = ({ upgrade, source: { download } }: Updated) => upgrade !== null || download?.error === null

const UpdatesHead = ({ updates: u }: { updates: Updated }) => (
  <Head
    title="Updates"
    trail={[['Controller host', '/admin/controller']]}
    state={<Availability updates={u} />}
    sub={
      <>
        <span>runs {u.version}</span>
        <span>protocol {u.protocol}</span>
        <span>schema {u.schema.slice(0, 4)}</span>
        {u.check && (
          <span>
            checked by {u.check.by} <Time iso={u.check.at} />
          </span>
        )}
      </>
    }
    actions={u.available && !u.upgrade && <Acts updates={u} version={u.available} />}
  />
)

function Availability({ updates: { upgrade, available } }: { updates: Updated }) {
  const [tone, shape, words] = upgrade
    ? (['work', 'work', `Update to ${upgrade.to}`] as const)
    : available
      ? (['warn', 'wait', `${available} is available`] as const)
      : (['ok', 'tick', 'No newer release is here'] as const)
  return (
    <State tone={tone} shape={shape} tag>
      {words}
    </State>
  )
}

const Acts = ({ updates: u, version }: { updates: Updated; version: string }) => (
  <>
    <Action op={checkUpdate} body={{ version }} label="Check what would happen" icon="checklist" done="Checked" />
    <Action
      op={startUpdate}
      body={{ version }}
      label="Update the controller…"
      title={`Update the controller to ${version}?`}
      submit={`Update to ${version}`}
      icon="download"
      tone="pri"
      done="The update begins within seconds"
      disabledReason={u.disabledReason ?? undefined}
      confirm={{
        consequences: [
          `Changes are refused for about ${u.stopsSeconds} s. Pages and reading calls go on.`,
          'Servers, their consoles and their networks are not touched.',
          'The database is copied first. If anything is wrong with the new version, it and the program go back by ' +
            'themselves.',
          'Jobs at work come to a resting point, and go on afterwards.',
          'All owners are told by mail.',
        ],
      }}
    />
  </>
)

function Available({ updates }: { updates: Updated }) {
  const { releases, available, version } = updates
  const shown = releases.find((one) => one.version === available) ?? releases.find((one) => one.version === version)
  return shown ? <ReleaseFacts release={shown} updates={updates} /> : <NoRelease updates={updates} />
}

const IfWrong = () => (
  <Section id="wrong" title="If it goes wrong">
    <div class="tip">
      <Icon name="undo" />
      <span>
        The machine watches the new version and checks it. If anything is amiss,{' '}
        <b>version and database go back by themselves</b> and you read why here.
      </span>
    </div>
  </Section>
)

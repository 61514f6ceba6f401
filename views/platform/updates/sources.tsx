import type { ComponentChildren } from 'preact'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { downloadUpdate, lookForUpdate, setUpdateSource } from '../../../src/platform/updates/source.ts'
import { uploadUpdate } from '../../../src/platform/updates/upload.ts'
import { Action, Edit, pathOf } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Section } from '../../components/section.tsx'
import { dayOf, Time } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import type { Updated } from './updated.ts'

type Source = Updated['source']

export const Sources = ({ updates: { folder, releases, refusedFiles, source } }: { updates: Updated }) => (
  <Section id="sources" title="Where releases come from">
    <ul class="rows">
      <li>
        <Icon name="folder" class="muted" />
        <div class="grow">
          <b>A file you put on the controller</b>
          <small>
            <code>{folder}</code>
            {releases[0] && (
              <>
                , last{' '}
                <Time
                  iso={
                    releases
                      .map(({ addedAt }) => addedAt)
                      .toSorted()
                      .at(-1)!
                  }
                />
              </>
            )}
          </small>
        </div>
      </li>
      <Upload />
      <li>
        <Icon name="globe" class="muted" />
        <div class="grow">
          <b>An address you set</b>
          <small>{source.url ?? 'Off. Nothing is asked for unless you turn it on'}</small>
        </div>
        <Address url={source.url} />
      </li>
    </ul>
    <div class="stack">
      {source.url && <Looking source={source} has={(version) => releases.some((one) => one.version === version)} />}
      {refusedFiles.map(({ file, message }) => (
        <Trouble>
          <code>{file}</code> is refused. {message}
        </Trouble>
      ))}
    </div>
  </Section>
)

/** Sent part by part by public/panel/forms/release-file.js. */
const Upload = () => {
  if (!useAt().may(uploadUpdate)) return null
  return (
    <li>
      <Icon name="upload" class="muted" />
      <div class="grow">
        <b>A file you send from here</b>
        <small>It counts once all of it is there and was verified</small>
        <form class="kept f" data-upload={pathOf(uploadUpdate, {})}>
          <input type="file" accept=".release" required aria-label="File of a release" />
          <div class="bar">
            <button class="btn sm" data-send="">
              Send it
            </button>
            <button class="btn sm" type="button" data-stop="" hidden>
              Stop
            </button>
          </div>
          <progress aria-label="Sent so far" max={1} value={0} hidden />
          <p role="status" class="hint" />
          <p role="alert" class="err" />
        </form>
      </div>
    </li>
  )
}

const Address = ({ url }: { url: string | null }) => (
  <Edit
    op={setUpdateSource}
    label={url ? 'Change' : 'Set'}
    title="An address for releases"
    small
    fields={
      <Field
        scope="source"
        name="url"
        label="Address"
        type="url"
        nullable
        value={url}
        placeholder="https://releases.example.com/berth-latest.release"
        hint={
          'Of the file of the newest release, with https://. It is read when somebody looks, and never by itself. ' +
          'Empty turns it off.'
        }
      />
    }
  />
)

const Looking = ({ source: s, has }: { source: Source; has: (version: string | null) => boolean }) => (
  <>
    <div class="bar">
      <Action
        op={lookForUpdate}
        label="Look for a newer release"
        icon="refresh"
        done="The address has answered"
        small
      />
      {s.version && !s.refused && !has(s.version) && !s.download && (
        <Action op={downloadUpdate} label={`Download ${s.version}`} icon="download" done="The download begins" small />
      )}
    </div>
    {s.lookedAt && (
      <p class="hint">
        {s.refused ?? (s.version && s.date ? `${s.version} of ${dayOf(s.date)} is there.` : 'Nothing is there.')} Looked
        by {s.lookedBy} <Time iso={s.lookedAt} />.
      </p>
    )}
    {s.download && <Download of={s.download} />}
  </>
)

const Download = ({ of: { version, bytes: done, totalBytes, error } }: { of: NonNullable<Source['download']> }) =>
  error === null ? (
    <p>
      {version} is being downloaded: {bytes(done)} of {bytes(totalBytes)}.{' '}
      <progress max={totalBytes} value={done} aria-label={`Download of ${version}`} />
    </p>
  ) : (
    <>
      <Trouble>
        The download of {version} failed. {error}
      </Trouble>
      <Action op={downloadUpdate} label="Try again" done="The download begins" small />
    </>
  )

const Trouble = ({ children }: { children: ComponentChildren }) => (
  <div class="tip warn">
    <Icon name="warning" />
    <span>{children}</span>
  </div>
)

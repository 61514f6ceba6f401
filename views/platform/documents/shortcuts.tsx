// The keyboard shortcuts that there are: as a page for who does not know them, and as a dialog that `?` opens.
import { page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'

/** Keys pressed together stand in one list. */
type Shortcut = { keys: readonly (readonly string[])[]; does: string }
/** Where a shortcut works, and what it does there. */
const shortcuts: Readonly<Record<string, readonly Shortcut[]>> = {
  'On every page': [
    { keys: [['Ctrl', 'K']], does: 'Search, or go to a page (on a Mac also ⌘ K)' },
    { keys: [['?']], does: 'Show these shortcuts' },
    { keys: [['Esc']], does: 'Close a dialog or a menu' },
  ],
  'In the search': [
    { keys: [['↑'], ['↓']], does: 'Choose a result' },
    { keys: [['Enter']], does: 'Open it, or the first one' },
  ],
  'On a chart': [
    { keys: [['←'], ['→']], does: 'Read the value before or after' },
    { keys: [['Page Up'], ['Page Down']], does: 'Ten values at once' },
    { keys: [['Home'], ['End']], does: 'The first or the last value' },
  ],
  'In a console': [{ keys: [['Ctrl', 'Alt', 'Shift']], does: 'Give the keyboard back to the page' }],
}

const Keys = ({ of }: { of: Shortcut['keys'] }) => (
  <>
    {of.map((together, i) => (
      <>
        {i > 0 && ' or '}
        {together.map((key, nth) => (
          <>
            {nth > 0 && ' '}
            <kbd>{key}</kbd>
          </>
        ))}
      </>
    ))}
  </>
)

const Shortcuts = ({ of }: { of: readonly Shortcut[] }) => (
  <dl class="kv">
    {of.map(({ keys, does }) => (
      <div>
        <dt>
          <Keys of={keys} />
        </dt>
        <dd>{does}</dd>
      </div>
    ))}
  </dl>
)

/** A key alone may be pressed by accident, or meant for an aid of the reader's. */
const SwitchOff = () => (
  <p class="muted">
    <kbd>?</kbd> is {useAt().uiPreferences?.shortcuts === 'off' ? 'switched off' : 'switched on'} for you. That is
    changed under <Link to="/account">Account</Link>.
  </p>
)

export const shortcutsPage = page({
  path: '/shortcuts',
  reads: {},
  title: 'Keyboard shortcuts',
  nav: 'shortcuts',
  view: () => (
    <>
      <Head title="Keyboard shortcuts" sub={<SwitchOff />} />
      {Object.entries(shortcuts).map(([where, of], i) => (
        <Section id={`keys-${i}`} title={where} first={i === 0}>
          <Shortcuts of={of} />
        </Section>
      ))}
    </>
  ),
})

/** The same over any page: the links to the page open it. */
export const ShortcutsDialog = () => (
  <dialog id="shortcuts" class="wide" aria-labelledby="shortcuts-t">
    <div class="stack">
      <h2 id="shortcuts-t">Keyboard shortcuts</h2>
      {Object.entries(shortcuts).map(([where, of]) => (
        <div class="in">
          <h3>{where}</h3>
          <Shortcuts of={of} />
        </div>
      ))}
      <SwitchOff />
      <div class="bar end">
        <button type="button" class="btn" data-close="">
          Close
        </button>
      </div>
    </div>
  </dialog>
)

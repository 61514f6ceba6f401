import { resetPassword } from '../../../../src/compute/guest/root-password.ts'
import { Action } from '../../../components/action.tsx'
import { Setting } from '../../workloads/settings-entry.tsx'
import { rootPassword } from '../access.tsx'
import { away } from '../power-buttons.tsx'
import { disabledReason, type Server } from '../words.ts'

const appliesWords = (s: Server) =>
  s.status === 'running'
    ? 'It applies at once if the guest agent answers. Otherwise restart the server here: a reboot from inside is not ' +
      'enough.'
    : 'It applies when the server is started.'

const titles = { linux: 'Root password', windows: 'Administrator password' } as const
const shown = (s: Server) => {
  const secret = rootPassword(s.hostname, s.osFamily === 'windows' ? 'yes' : 'no')
  return { ...secret, words: `${secret.words} ${appliesWords(s)}` }
}

export const RootPassword = ({ server: s }: { server: Server }) => (
  <Setting
    op={resetPassword}
    title={titles[s.osFamily]}
    words={
      s.passwordPending
        ? 'A new one was made. It applies when the server is started or restarted here.'
        : 'Makes a new one and shows it once. Files and keys stay.'
    }
  >
    <Action
      op={resetPassword}
      params={{ id: s.id }}
      label="Reset"
      of={`the ${s.osFamily === 'windows' ? 'Administrator' : 'root'} password`}
      title={`Reset the ${s.osFamily === 'windows' ? 'Administrator' : 'root'} password of ${s.hostname}?`}
      submit="Make a new password"
      done="A new password was made"
      disabledReason={away(s) ?? disabledReason(s, 'reset_password')}
      secret={shown(s)}
      confirm={{
        consequences: [`The present ${titles[s.osFamily].toLowerCase()} no longer works.`, appliesWords(s)],
      }}
    />
  </Setting>
)

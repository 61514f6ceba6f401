import { Icon, type IconName } from '../../components/icon.tsx'

/** A list of things to know, each with a title and a sentence. */
export const Points = ({ of }: { of: readonly (readonly [icon: IconName, title: string, words: string])[] }) => (
  <ul class="rows">
    {of.map(([icon, title, words]) => (
      <li>
        <Icon name={icon} class="muted" />
        <div class="grow">
          <b>{title}</b>
          <small>{words}</small>
        </div>
      </li>
    ))}
  </ul>
)

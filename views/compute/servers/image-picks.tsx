// The choice of an image: a tile for each family of systems, with its versions.
import type { ComponentChildren } from 'preact'
import { OsTile, partsOf } from '../../catalog/images/os.tsx'
import type { Option } from '../../components/field.tsx'

type PicksProps = {
  /** Makes the ids unique on the page. */
  scope: string
  /** Of `imageOptions`: in the order in which they are shown. */
  options: readonly Option[]
  value: string | undefined
  /** A heading above says "Image" already. */
  quiet?: boolean
  /** A choice that is no image. */
  none?: Option
  /** In place of the images where there are none. */
  empty?: ComponentChildren
}
/** One of several images; those that cannot be chosen say why. */
export function ImagePicks({ scope, options, value, quiet, none, empty }: PicksProps) {
  const families = Map.groupBy(options, ({ label }) => partsOf(label).family)
  const id = `${scope}-imageId`
  return (
    <fieldset class="f" id={id}>
      <legend class={quiet ? 'sr' : undefined}>Image</legend>
      {!options.length && empty}
      <div class="picks s">
        {[...families].map(([family, versions]) => (
          <Family id={id} family={family} versions={versions} value={value} />
        ))}
        {none && (
          <div class="pick">
            <input
              type="radio"
              id={`${id}-`}
              name="imageId"
              value={none.value}
              checked={none.value === value}
              aria-describedby={`${id}-none`}
            />
            <label for={`${id}-`}>{none.label}</label>
            <span class="hint" id={`${id}-none`}>
              {none.hint}
            </span>
          </div>
        )}
      </div>
    </fieldset>
  )
}

type FamilyProps = { id: string; family: string; versions: readonly Option[]; value: string | undefined }
function Family({ id, family, versions, value }: FamilyProps) {
  const why = versions.filter((o) => o.why)
  // By value, not by place: the order page is redrawn with other versions.
  const hint = `${id}-${versions[0]!.value}-h`
  return (
    <div class="pick" role="group" aria-label={family}>
      <OsTile name={family} />
      <b>{family}</b>
      <div class="vers">
        {versions.map((o) => (
          <label title={typeof o.hint === 'string' ? o.hint : undefined}>
            <input
              type="radio"
              id={`${id}-${o.value}`}
              name="imageId"
              value={o.value}
              checked={o.value === value && !o.why}
              disabled={!!o.why}
              aria-label={o.label}
              aria-describedby={o.why ? hint : undefined}
            />
            {partsOf(o.label).version || 'Latest'}
          </label>
        ))}
      </div>
      {why.length > 0 && (
        <span class="hint" id={hint}>
          {why.map((o) => (
            <span>
              {versions.length > 1 && `${partsOf(o.label).version}: `}
              {o.why}{' '}
            </span>
          ))}
        </span>
      )}
    </div>
  )
}

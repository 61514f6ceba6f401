// Images of an offer as cards: what each is for, and the port that is the way in.
import type { listOrderableOffers } from '../../../src/compute/gpu-instances/order/offers.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Radios } from '../../components/choices.tsx'

type Template = Answers<{ o: typeof listOrderableOffers }>['o']['data'][number]['images'][number]

/** `Opens Jupyter on port 8888.` */
const opensWords = ({ opensPort, jupyter }: Pick<Template, 'opensPort' | 'jupyter'>) =>
  opensPort === null
    ? 'SSH only.'
    : jupyter && opensPort === 8888
      ? 'Opens Jupyter on port 8888.'
      : `Opens port ${opensPort}.`

type PicksProps = { images: readonly Template[]; value: string | undefined }
export const TemplatePicks = ({ images, value }: PicksProps) => (
  <Radios
    scope="new"
    name="imageId"
    quiet
    label="Template"
    value={value}
    options={images.map((image) => ({
      value: image.id,
      label: image.name,
      icon: image.icon ?? 'image',
      hint: (
        <>
          {image.description && (
            <>
              {image.description}
              <br />
            </>
          )}
          {opensWords(image)}
          {image.docsUrl && (
            <>
              {' '}
              <a
                href={image.docsUrl}
                target="_blank"
                rel="noreferrer noopener"
                aria-label={`Instructions: ${image.name}`}
              >
                Instructions
              </a>
            </>
          )}
        </>
      ),
    }))}
    empty={<p class="muted">Choose an offer first.</p>}
  />
)

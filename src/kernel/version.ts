// One place says which version this is.
import { version } from '../../package.json'

export const VERSION: string = version

// Asks for the document at once; the application is loaded at the same time.

import './lib/early'

void import('./start')

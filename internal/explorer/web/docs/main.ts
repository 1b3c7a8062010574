// The reference: Swagger UI on the document of this server.

import SwaggerUIBundle from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import './style.css'

interface Sent {
  headers: Record<string, string>
}

SwaggerUIBundle({
  url: new URL('../openapi.json', document.baseURI).href,
  domNode: document.getElementById('reference'),
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null, // nothing is sent to anybody else
  // Whoever is signed in to the explorer in this tab is signed in here, unless they say otherwise.
  requestInterceptor(request: Sent) {
    const credential = sessionStorage.getItem('plural.credential')
    if (credential && !request.headers.Authorization) request.headers.Authorization = `Bearer ${credential}`
    return request
  },
})

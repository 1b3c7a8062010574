# syntax=docker/dockerfile:1
#
#   docker build --build-arg VERSION=$(git describe --tags --always --dirty) --build-arg COMMIT=$(git rev-parse HEAD) -t plural .
#   docker run -p 127.0.0.1:8080:8080 -e PLURAL_OPEN=true -v plural-data:/data -v ./plural.yaml:/data/plural.yaml:ro plural
#
# See docs/deploy.md.

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=dev COMMIT=
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT" -o /out/plural ./cmd/plural \
 && go build -C tools/make -o /out/release ./release && /out/release -notices /out/THIRD_PARTY_NOTICES.txt -platform $TARGETOS/$TARGETARCH \
 && mkdir -m 0700 /out/data /out/tmp

# Nothing but the program, licences, certificates to verify others by, and two directories of its own.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/plural /usr/bin/plural
COPY --from=build /src/LICENSE /out/THIRD_PARTY_NOTICES.txt /usr/share/doc/plural/
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/tmp /tmp
USER 65532:65532
WORKDIR /data
VOLUME /data
# The port that is published is the container's. Without access in the schema file
# the server refuses an address that others can reach, unless PLURAL_OPEN=true.
ENV PLURAL_ADDR=0.0.0.0:8080
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["/usr/bin/plural", "health"]
ENTRYPOINT ["/usr/bin/plural"]
CMD ["serve"]

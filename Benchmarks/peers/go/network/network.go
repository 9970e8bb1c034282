// SPDX-License-Identifier: Apache-2.0

// Go's net: a goroutine for each connection, on one processor.
// network echo | http | net-http
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
)

const hello = "hello, world\n"

const response = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\n" + hello

// As many responses as one read of 4096 bytes can ask for.
var responses = bytes.Repeat([]byte(response), 1024)

func echo(connection net.Conn) {
	defer connection.Close()
	input := make([]byte, 4096)
	for {
		count, err := connection.Read(input)
		if err != nil {
			return
		}
		if _, err := connection.Write(input[:count]); err != nil {
			return
		}
	}
}

func plainHTTP(connection net.Conn) {
	defer connection.Close()
	input := make([]byte, 4096)
	matched := 0
	for {
		count, err := connection.Read(input)
		if err != nil {
			return
		}
		if ended := requestsEnded(input[:count], &matched); ended > 0 {
			if _, err := connection.Write(responses[:ended*len(response)]); err != nil {
				return
			}
		}
	}
}

// requestsEnded tells how many requests end in these bytes. A request ends with an empty line; matched of
// its four bytes were the last ones of what came before.
func requestsEnded(input []byte, matched *int) int {
	const emptyLine = "\r\n\r\n"
	ended := 0
	for len(input) > 0 {
		if *matched == 0 {
			next := bytes.IndexByte(input, '\r')
			if next < 0 {
				break
			}
			input = input[next:]
		}
		switch {
		case input[0] == emptyLine[*matched]:
			*matched++
		case input[0] == '\r':
			*matched = 1
		default:
			*matched = 0
		}
		input = input[1:]
		if *matched == len(emptyLine) {
			ended++
			*matched = 0
		}
	}
	return ended
}

func serve(listener net.Listener, session func(net.Conn)) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go session(connection)
	}
}

func netHTTP(listener net.Listener) error {
	return http.Serve(listener, http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header()["Content-Type"] = []string{"text/plain"}
		io.WriteString(writer, hello)
	}))
}

func fail(message any) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}

func main() {
	runtime.GOMAXPROCS(1)
	servers := map[string]func(net.Listener) error{
		"echo":     func(listener net.Listener) error { return serve(listener, echo) },
		"http":     func(listener net.Listener) error { return serve(listener, plainHTTP) },
		"net-http": netHTTP,
	}
	if len(os.Args) != 2 || servers[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: network echo | http | net-http")
		os.Exit(64)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	go func() { fail(servers[os.Args[1]](listener)) }()
	io.Copy(io.Discard, os.Stdin)
}
